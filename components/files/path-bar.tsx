import { ClipboardCopy, House } from 'lucide-react'
import Link from 'next/link'
import { IconButton } from '#components/ui/icon-button.tsx'
import { useCopy } from '#components/ui/use-copy.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { displayName } from '#lib/browser/address/encode-path.ts'
import { breadcrumbs, joinPath } from './file-path.ts'
import type { FilesNav } from './files-nav.ts'

interface PathBarProps {
  nav: FilesNav
  folder: string
  file?: string
}

export const PathBar = ({ nav, folder, file }: PathBarProps) => {
  const shown = file === undefined ? folder : joinPath(folder, file)
  const crumbs = breadcrumbs(shown)
  const { copy } = useCopy('path')
  return (
    <nav aria-label="Path" className="flex min-w-0 flex-wrap items-center gap-x-0.5 font-mono text-sm">
      <Link
        href={nav.hrefOf('~')}
        prefetch={false}
        aria-label="Home folder"
        title="Home folder"
        className="mr-1 inline-flex size-6 items-center justify-center rounded-sm text-muted hover:bg-surface-2 hover:text-text"
      >
        <House aria-hidden className="size-3.5" />
      </Link>
      {crumbs.map(({ name, path }, index) => {
        const text = <VisibleText max={80}>{displayName(name)}</VisibleText>
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
                href={nav.hrefOf(path)}
                prefetch={false}
                className="inline-flex min-h-6 min-w-6 items-center justify-center rounded-sm px-1 break-all text-muted hover:bg-surface-2 hover:text-text"
              >
                {text}
              </Link>
            )}
          </span>
        )
      })}
      <IconButton
        size="sm"
        icon={ClipboardCopy}
        label="Copy path"
        className="ml-1"
        onClick={() => void copy(displayName(shown))}
      />
    </nav>
  )
}
