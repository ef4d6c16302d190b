import { useState } from 'react'
import { problemOf } from '#components/ui/problem.ts'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { downloadArchive } from './archive-download.ts'
import { downloadFile } from './file-download.ts'
import { isUtf8, nameIn, nameWords, within } from './file-path.ts'
import { type FolderEntry, opensAs } from './folder-listing.ts'

/** Downloads from a folder, one thing at a time: a page holds what it downloads. */
export const useFolderDownload = (devboxId: string, folder: string) => {
  const [saving, setSaving] = useState<string>()
  const save = async (what: string, take: () => Promise<void>) => {
    setSaving(what)
    try {
      await take()
    } catch (error) {
      toast.danger(<>{what} could not be downloaded</>, {
        description: <VisibleText max={300}>{problemOf(error).message}</VisibleText>,
      })
    } finally {
      setSaving(undefined)
    }
  }
  return {
    /** What is being downloaded; undefined while nothing is. */
    saving,
    download: (entries: readonly FolderEntry[]) => {
      const paths = entries.map(({ name }) => within(folder, name))
      const [only] = entries.length === 1 ? entries : []
      const [path = ''] = paths
      if (only && opensAs(only) === 'file' && isUtf8(path))
        return void save(nameWords(only.name), () => downloadFile(devboxId, path))
      const what = only ? nameWords(only.name) : `${entries.length} entries`
      void save(what, () => downloadArchive(devboxId, paths))
    },
    downloadFolder: () =>
      void save(nameWords(nameIn(folder)) || 'The folder', () => downloadArchive(devboxId, [folder])),
  }
}
