import { House } from 'lucide-react'
import Link from 'next/link'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { crumbsOf, nameWords, within } from './file-path.ts'
import type { FilesPlace } from './files-place.ts'

interface PathBarProps {
  place: FilesPlace
  folder: string
  /** A file of the folder, when that is what is shown. */
  file?: string
}

/** The folders that lead to what is shown, each a link. */
export const PathBar = ({ place, folder, file }: PathBarProps) => {
  const crumbs = crumbsOf(file === undefined ? folder : within(folder, file))
  return (
    <nav aria-label="Path" className="flex min-w-0 flex-wrap items-center gap-x-0.5 font-mono text-sm">
      <Link
        href={place.hrefOf('~')}
        prefetch={false}
        aria-label="Home folder"
        title="Home folder"
        className="mr-1 inline-flex size-6 items-center justify-center rounded-sm text-muted hover:bg-surface-2 hover:text-text"
      >
        <House aria-hidden className="size-3.5" />
      </Link>
      {crumbs.map(({ name, path }, index) => {
        const text = <VisibleText max={80}>{nameWords(name)}</VisibleText>
        return (
          <span key={path} className="inline-flex min-w-0 items-center gap-0.5">
            {index > 0 && crumbs[index - 1]?.name !== '/' && (
              <span aria-hidden className="text-muted">
                /
              </span>
            )}
            {index === crumbs.length - 1 ? (
              <span aria-current="page" className="px-1 font-medium break-all">
                {text}
              </span>
            ) : (
              <Link
                href={place.hrefOf(path)}
                prefetch={false}
                className="inline-flex min-h-6 min-w-6 items-center justify-center rounded-sm px-1 break-all text-muted hover:bg-surface-2 hover:text-text"
              >
                {text}
              </Link>
            )}
          </span>
        )
      })}
    </nav>
  )
}
