import { globSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join } from 'node:path'

const types: Record<string, string> = { '.js': 'application/javascript', '.css': 'text/css' }

// Serves build scripts and styles that `scripts/build.ts` compressed with brotli. Returns false for everything else.
// The files are kept in memory (about 1.3 MB), so that a new build does not remove them.
export const precompressedFiles = (
  folder: string,
): ((request: IncomingMessage, response: ServerResponse) => boolean) => {
  const files = new Map(
    globSync('**/*.{js,css}', { cwd: folder }).map((path) => [
      `/_next/static/${path}`,
      { content: readFileSync(join(folder, path)), type: types[extname(path)] },
    ]),
  )
  return (request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1)
    const file = files.get(path)
    const encodings = String(request.headers['accept-encoding'] ?? '').split(',')
    if (!file || !encodings.some((each) => each.trim() === 'br')) return false
    response.writeHead(200, {
      'content-type': `${file.type}; charset=UTF-8`,
      'content-encoding': 'br',
      'content-length': file.content.length,
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
    })
    response.end(file.content)
    return true
  }
}
