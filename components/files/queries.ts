import { type InfiniteData, infiniteQueryOptions, mutationOptions, queryOptions } from '@tanstack/react-query'
import { byName, type EntrySort } from '#lib/protocol/list-folder.ts'
import { countContents, deleteFiles, fileSize, isFolder, listFolder, makeFolder, renameFile } from './file-commands.ts'
import { type FileContent, readContent } from './file-content.ts'
import type { FolderListing } from './folder-listing.ts'

// Each read starts a process in the devbox and adds a line to its log, so nothing is refetched on its own.
const readOnce = { refetchOnWindowFocus: false, refetchOnReconnect: false }
// Contents may have changed since the last read, and may be large.
const uncached = { ...readOnce, staleTime: 0, gcTime: 0 }

export const fileQueries = {
  all: (devboxId: string) => ['files', devboxId] as const,

  /** The parts of a folder that are loaded. */
  folder: (devboxId: string, path: string, sort: EntrySort = byName) =>
    infiniteQueryOptions({
      queryKey: [...fileQueries.all(devboxId), 'folder', path, sort],
      queryFn: async ({ signal, pageParam, client }) => {
        const listing = await listFolder(devboxId, path, { offset: pageParam, sort, signal })
        // The tree lists folders by their absolute path.
        const { queryKey } = fileQueries.folder(devboxId, listing.folder, sort)
        if (pageParam === 0 && path !== listing.folder && !client.getQueryData(queryKey))
          client.setQueryData<InfiniteData<FolderListing, number>>(queryKey, { pages: [listing], pageParams: [0] })
        return listing
      },
      initialPageParam: 0,
      getNextPageParam: (last: FolderListing, all: FolderListing[]) => {
        const loaded = all.reduce((sum, { entries }) => sum + entries.length, 0)
        return last.entries.length > 0 && loaded < last.total ? loaded : undefined
      },
      ...readOnce,
    }),

  content: (devboxId: string, path: string) =>
    queryOptions({
      queryKey: [...fileQueries.all(devboxId), 'content', path],
      queryFn: async ({ signal }) => {
        const content = await readContent(devboxId, path, { signal }).catch(async (error): Promise<FileContent> => {
          if (await isFolder(devboxId, path).catch(() => false)) return { kind: 'folder' }
          throw error
        })
        if (content.kind === 'folder' || content.sizeBytes !== null) return content
        return { ...content, sizeBytes: await fileSize(devboxId, path).catch(() => null) } as FileContent
      },
      ...uncached,
    }),

  contentsCount: (devboxId: string, paths: readonly string[]) =>
    queryOptions({
      queryKey: [...fileQueries.all(devboxId), 'contents-count', paths],
      queryFn: () => countContents(devboxId, paths),
      ...uncached,
    }),
}

/** Each invalidates the folders of the devbox. */
export const fileMutations = {
  makeFolder: (devboxId: string) => change(devboxId, (path: string) => makeFolder(devboxId, path)),
  rename: (devboxId: string) =>
    change(devboxId, ({ path, name }: { path: string; name: string }) => renameFile(devboxId, path, name)),
  delete: (devboxId: string) => change(devboxId, (paths: readonly string[]) => deleteFiles(devboxId, paths)),
}

const change = <Input>(devboxId: string, call: (input: Input) => Promise<unknown>) =>
  mutationOptions({
    mutationFn: call,
    onSettled: (_result, _error, _input, _context, { client }) =>
      client.invalidateQueries({ queryKey: [...fileQueries.all(devboxId), 'folder'] }),
  })
