import type { Readable } from 'node:stream'

/** Parses a stream of JSON values, one per line. */
export async function* jsonLines<T>(stream: Readable): AsyncGenerator<T> {
  let rest = ''
  for await (const chunk of stream.setEncoding('utf8')) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line) as T
  }
}
