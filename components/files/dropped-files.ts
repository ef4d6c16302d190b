/** `name` includes the path of a file in a folder. */
export interface NamedFile {
  name: string
  file: File
}

export const maxUploadedFiles = 500

export const namedFiles = (files: Iterable<File>): NamedFile[] =>
  [...files].map((file) => ({ name: file.webkitRelativePath || file.name, file }))

/** Collects dropped files, including those in folders, up to one over the limit. Items must be read synchronously. */
export const droppedFiles = async (items: DataTransferItemList): Promise<NamedFile[]> => {
  const dropped = [...items]
    .filter(({ kind }) => kind === 'file')
    .map((item) => ({ folder: item.webkitGetAsEntry(), file: item.getAsFile() }))
  const found: NamedFile[] = []
  for (const { folder, file } of dropped)
    if (folder?.isDirectory) await collectFiles(folder, folder.name, found)
    else if (file) found.push({ name: file.name, file })
  return found
}

const collectFiles = async (entry: FileSystemEntry, name: string, found: NamedFile[]): Promise<void> => {
  if (found.length > maxUploadedFiles) return
  if (isFile(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject))
    found.push({ name, file })
    return
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  // readEntries returns up to 100 entries at a time, and none at the end.
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (batch.length === 0 || found.length > maxUploadedFiles) return
    for (const each of batch) await collectFiles(each, `${name}/${each.name}`, found)
  }
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile
