import { type PassThrough, Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { ZipFile } from 'yazl'

export interface ZipEntry {
  /** Relative path without `..`, unique in the archive. */
  name: string
  modifiedMs: number
  content: AsyncIterable<Uint8Array>
}

/** Streams a zip of the entries, in order. Requests an entry once the previous one has been read. */
export const zip = (entries: AsyncIterable<ZipEntry>): Readable => {
  const file = new ZipFile()
  const output = file.outputStream as PassThrough
  const add = async () => {
    for await (const { name, modifiedMs, content } of entries) {
      if (output.destroyed) return
      const source = Readable.from(content)
      const stop = () => source.destroy()
      output.once('close', stop)
      file.addReadStream(source, name, { mtime: new Date(modifiedMs), mode: 0o100644 })
      await finished(source)
      output.off('close', stop)
    }
    file.end()
  }
  add().catch((error: Error) => output.destroy(error))
  return output
}
