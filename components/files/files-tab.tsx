'use client'
import { FolderClosed, Play } from 'lucide-react'
import { useCallback, useRef, useState } from 'react'
import * as z from 'zod/mini'
import { useAddress } from '#components/list/use-address.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { type Devbox, devboxRefusal, resumeRefusal } from '#lib/contract/devboxes.ts'
import { pathOfText, pathText } from './file-path.ts'
import { FileView } from './file-view.tsx'
import type { FilesPlace } from './files-place.ts'
import { FolderView } from './folder-view.tsx'

/** `path` is a folder, `file` a name in it; without them the home folder. */
const FilesAddress = z.object({ path: z._default(z.string(), ''), file: z._default(z.string(), '') })
const schema = z.extend(FilesAddress, { tab: z.optional(z.string()) })

interface FilesTabProps {
  devbox: Devbox
  busy: boolean
  onResume: (devbox: Devbox) => void
}

/** The files of a devbox, as its processes see them: a folder, or one file of it. */
export const FilesTab = ({ devbox, busy, onResume }: FilesTabProps) => {
  const { id, status } = devbox
  const address = useCallback(
    ({ path, file }: Partial<z.infer<typeof FilesAddress>>) => paths.devboxFiles(id, { path, file }),
    [id],
  )
  const { settled, change, followHere } = useAddress({ schema, path: address })
  const [folder, file] = [pathOfText(settled.path), pathOfText(settled.file)]
  const focused = useRef<string>(undefined)
  const refusal = devboxRefusal('use_files', status)
  // What was opened stays while the devbox is away: there may be a text in it that nobody has saved.
  const [hasRun, setHasRun] = useState(refusal === null)
  if (refusal === null && !hasRun) setHasRun(true)

  const resume = resumeRefusal(devbox) === null && (
    <Button icon={Play} busy={busy} onClick={() => onResume(devbox)}>
      Resume devbox
    </Button>
  )
  if (!hasRun)
    return (
      <EmptyState icon={FolderClosed} title="The files cannot be read" action={resume || undefined}>
        {refusal}. Its files are read and written by processes in it.
      </EmptyState>
    )
  const place: FilesPlace = {
    devboxId: id,
    refusal,
    hrefOf: (path, name) =>
      paths.devboxFiles(id, { path: pathText(path), ...(name !== undefined && { file: pathText(name) }) }),
    go: (path, options = {}) => {
      focused.current = options.focused ?? ''
      change({ path: pathText(path), file: pathText(options.file ?? '') }, 'push')
    },
    takeFocused: () => {
      const { current } = focused
      focused.current = undefined
      return current
    },
  }
  return (
    <div
      className="space-y-3"
      onClickCapture={(event) => {
        // By the keyboard the focus goes on in what is opened.
        if (event.detail === 0) focused.current = ''
        followHere(event)
      }}
    >
      {refusal !== null && (
        <Banner tone="attention" role="status" title={refusal} actions={resume || undefined}>
          What is shown was read before.
        </Banner>
      )}
      {file === '' ? (
        <FolderView key={folder} place={place} path={folder || '~'} />
      ) : (
        <FileView key={`${folder}\0${file}`} place={place} folder={folder || '~'} name={file} />
      )}
    </div>
  )
}
