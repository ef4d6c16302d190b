import { execFileSync } from 'node:child_process'

interface ReadEntry {
  name: string
  modifiedMs: number
  content: Buffer
}

const script = `
import base64, calendar, io, json, struct, sys, zipfile
archive = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read()))
print(json.dumps([{
    "name": entry.filename,
    # The extra field with the time in UTC comes first.
    "modifiedMs": struct.unpack_from("<i", entry.extra, 5)[0] * 1000,
    "content": base64.b64encode(archive.read(entry)).decode(),
} for entry in archive.infolist()]))
`

export const readZip = (input: Buffer): ReadEntry[] =>
  JSON.parse(execFileSync('python3', ['-c', script], { input, encoding: 'utf8', maxBuffer: 2 ** 30 })).map(
    ({ content, ...entry }: { name: string; modifiedMs: number; content: string }) => ({
      ...entry,
      content: Buffer.from(content, 'base64'),
    }),
  )
