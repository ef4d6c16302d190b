import { mutationOptions, queryOptions } from '@tanstack/react-query'
import { deleteFiles, extentOf, listFolder, makeFolder, renameFile, sizeOf } from './file-commands.ts'
import { type FileContent, readContent } from './file-content.ts'

const fileKeys = {
  of: (devboxId: string) => ['files', devboxId] as const,
}

/** Nothing is read again by itself: each reading is a process in the devbox and a line in its log. */
const readOnce = { refetchOnWindowFocus: false, refetchOnReconnect: false }

export const fileQueries = {
  /** All that was read of a devbox. */
  all: fileKeys.of,

  folder: (devboxId: string, path: string) =>
    queryOptions({
      queryKey: [...fileKeys.of(devboxId), 'folder', path],
      queryFn: ({ signal }) => listFolder(devboxId, path, undefined, signal),
      ...readOnce,
    }),

  content: (devboxId: string, path: string) =>
    queryOptions({
      queryKey: [...fileKeys.of(devboxId), 'content', path],
      queryFn: async ({ signal }) => {
        const content = await readContent(devboxId, path, { signal })
        if (content.sizeBytes !== null) return content
        // What cannot be told is said to be unknown.
        return { ...content, sizeBytes: await sizeOf(devboxId, path).catch(() => null) } as FileContent
      },
      ...readOnce,
      // What is in a file may have changed whenever it is looked at anew, and may be large.
      staleTime: 0,
      gcTime: 0,
    }),

  /** What goes with these when they are deleted. */
  extent: (devboxId: string, paths: readonly string[]) =>
    queryOptions({
      queryKey: [...fileKeys.of(devboxId), 'extent', paths],
      queryFn: () => extentOf(devboxId, paths),
      ...readOnce,
      staleTime: 0,
      gcTime: 0,
    }),
}

/** Each makes what is shown of the devbox's files be read again. */
export const fileMutations = {
  makeFolder: (devboxId: string) => change(devboxId, (path: string) => makeFolder(devboxId, path)),
  rename: (devboxId: string) =>
    change(devboxId, ({ path, name }: { path: string; name: string }) => renameFile(devboxId, path, name)),
  delete: (devboxId: string) => change(devboxId, (paths: readonly string[]) => deleteFiles(devboxId, paths)),
}

const change = <Input>(devboxId: string, call: (input: Input) => Promise<unknown>) =>
  mutationOptions({
    mutationFn: call,
    onSettled: (_answer, _error, _input, _result, { client }) =>
      client.invalidateQueries({ queryKey: [...fileKeys.of(devboxId), 'folder'] }),
  })
