/** A file of this computer, and what it is called: with its path where it comes in a folder. */
export interface NamedFile {
  name: string
  file: File
}

/** As many as are asked about and sent one after the other; more are better packed. */
export const maxUploadedFiles = 500

export const namedFiles = (files: Iterable<File>): NamedFile[] =>
  [...files].map((file) => ({ name: file.webkitRelativePath || file.name, file }))

/** What was dropped: of a folder all files in it, one more than can be sent at most. What it holds is told only at once. */
export const droppedFiles = async (items: DataTransferItemList): Promise<NamedFile[]> => {
  const dropped = [...items]
    .filter(({ kind }) => kind === 'file')
    .map((item) => ({ folder: item.webkitGetAsEntry(), file: item.getAsFile() }))
  const found: NamedFile[] = []
  for (const { folder, file } of dropped)
    if (folder?.isDirectory) await gather(folder, folder.name, found)
    else if (file) found.push({ name: file.name, file })
  return found
}

const gather = async (entry: FileSystemEntry, name: string, found: NamedFile[]): Promise<void> => {
  if (found.length > maxUploadedFiles) return
  if (isFile(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject))
    found.push({ name, file })
    return
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  // It tells a hundred at a time, and nothing once it has told all.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0 || found.length > maxUploadedFiles) return
    for (const each of some) await gather(each, `${name}/${each.name}`, found)
  }
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile
