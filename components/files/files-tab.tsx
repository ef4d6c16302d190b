'use client'
import { FolderClosed, Play } from 'lucide-react'
import { useCallback, useRef, useState } from 'react'
import * as z from 'zod/mini'
import { useDevbox } from '#components/devboxes/detail.tsx'
import { useAddress } from '#components/list/use-address.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { devboxRefusal, resumeRefusal } from '#lib/contract/devboxes.ts'
import { decodePath, encodePath } from './file-path.ts'
import { FileView } from './file-view.tsx'
import type { FilesNav } from './files-nav.ts'
import { FolderView } from './folder-view.tsx'

/** `file` is a name in the folder `path`; the default is the home folder. */
const FilesSearchParams = z.object({ path: z._default(z.string(), ''), file: z._default(z.string(), '') })

export const FilesTab = () => {
  const { devbox, actions } = useDevbox()
  const { id, status } = devbox
  const address = useCallback(
    ({ path, file }: Partial<z.infer<typeof FilesSearchParams>>) =>
      paths.devbox(id, 'files', { path: path || undefined, file: file || undefined }),
    [id],
  )
  const { settled, change, followHere } = useAddress({ schema: FilesSearchParams, path: address })
  const [folder, file] = [decodePath(settled.path), decodePath(settled.file)]
  const focused = useRef<string>(undefined)
  const refusal = devboxRefusal('use_files', status)
  // Stays open while the devbox is suspended, since there may be unsaved edits.
  const [hasRun, setHasRun] = useState(refusal === null)
  if (refusal === null && !hasRun) setHasRun(true)

  const resume = resumeRefusal(devbox) === null && (
    <Button icon={Play} busy={actions.busyId === id} onClick={() => actions.resume(devbox)}>
      Resume devbox
    </Button>
  )
  if (!hasRun)
    return (
      <EmptyState icon={FolderClosed} title="Files unavailable" action={resume || undefined}>
        {refusal}. The devbox must be running to read and write files.
      </EmptyState>
    )
  const nav: FilesNav = {
    devboxId: id,
    refusal,
    hrefOf: (path, name) => paths.devbox(id, 'files', { path: encodePath(path), file: name && encodePath(name) }),
    go: (path, options = {}) => {
      focused.current = options.focused ?? ''
      change({ path: encodePath(path), file: encodePath(options.file ?? '') }, 'push')
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
        // A link followed by keyboard moves the focus into the opened folder.
        if (event.detail === 0) focused.current = ''
        followHere(event)
      }}
    >
      {refusal !== null && (
        <Banner tone="attention" role="status" title={refusal} actions={resume || undefined}>
          Showing the last loaded contents.
        </Banner>
      )}
      {file === '' ? (
        <FolderView key={folder} nav={nav} path={folder || '~'} />
      ) : (
        <FileView key={`${folder}\0${file}`} nav={nav} folder={folder || '~'} name={file} />
      )}
    </div>
  )
}
