import { expect, it } from 'vitest'
import { droppedFiles, maxUploadedFiles } from './dropped-files.ts'

/** Stand-ins for browser entries; a folder returns two entries at a time. */
const file = (name: string) => ({ name, isFile: true, file: (take: (file: File) => void) => take(new File([], name)) })
const folder = (name: string, entries: readonly object[]) => ({
  name,
  isFile: false,
  isDirectory: true,
  createReader: () => {
    let at = 0
    return {
      readEntries: (take: (some: readonly object[]) => void) => {
        at += 2
        take(entries.slice(at - 2, at))
      },
    }
  },
})
const dropped = async (...entries: { name: string }[]) => {
  // Browsers also return an unreadable File for a folder.
  const items = entries.map((entry) => ({
    kind: 'file',
    webkitGetAsEntry: () => entry,
    getAsFile: () => new File([], entry.name),
  }))
  const named = await droppedFiles([...items, { kind: 'string' }] as unknown as DataTransferItemList)
  return named.map(({ name }) => name)
}

it('includes the files in dropped folders with their paths', async () => {
  const deep = folder('deep', [file('d.txt')])
  expect(
    await dropped(file('a.txt'), folder('src', [file('b.txt'), deep, file('c.txt')]), folder('empty', [])),
  ).toEqual(['a.txt', 'src/b.txt', 'src/deep/d.txt', 'src/c.txt'])
})

it('stops reading once there are too many', async () => {
  const many = Array.from({ length: maxUploadedFiles * 2 }, (_, number) => file(`${number}`))
  expect(await dropped(folder('many', many))).toHaveLength(maxUploadedFiles + 1)
})
