/** What takes the place of a secret. */
const mask = Buffer.from('***')

export interface Scrubber {
  text(text: string): string
  /** The bytes of `content` without the secrets, also where a secret lies over two chunks. Never more bytes than before. */
  bytes(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
}

/**
 * Replaces the values by asterisks, as they are and as JSON writes them. Unspecified: what happens to values that a
 * program encoded in another way or wrote in parts. They are not found.
 */
export const createScrubber = (values: readonly string[]): Scrubber => {
  const spellings = values.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)])
  const needles = [...new Set(spellings)].filter((each) => each !== '').map((each) => Buffer.from(each))
  if (needles.length === 0) return { text: (text) => text, bytes: (content) => content }
  const longest = Math.max(...needles.map(({ length }) => length))
  return {
    text: (text) => Buffer.concat(masked(Buffer.from(text), needles).parts).toString(),
    bytes: (content) => scrub(content, needles, longest),
  }
}

async function* scrub(content: AsyncIterable<Uint8Array>, needles: readonly Buffer[], longest: number) {
  let held = Buffer.alloc(0)
  let covered = 0
  for await (const chunk of content) {
    const bytes = Buffer.concat([held, chunk])
    // The end, in which a secret may begin, waits for the next chunk.
    const cut = Math.max(0, bytes.length - longest + 1)
    const { parts, done } = masked(bytes, needles, covered, cut)
    yield* parts
    held = bytes.subarray(cut)
    covered = Math.max(0, done - cut)
  }
  yield* masked(held, needles, covered).parts
}

/** For the first `covered` bytes the asterisks have been given out already; from `cut` on only the rest of a secret is masked. */
const masked = (bytes: Buffer, needles: readonly Buffer[], covered = 0, cut = bytes.length) => {
  const parts: Buffer[] = []
  let done = covered
  for (const [start, end] of found(bytes, needles, covered)) {
    if (start >= cut) break
    if (done < start) parts.push(bytes.subarray(done, start))
    if (covered === 0 || start > 0) parts.push(mask.subarray(0, end - start))
    done = end
  }
  if (done < cut) parts.push(bytes.subarray(done, cut))
  return { parts, done }
}

/** Start and end of each secret, in order; secrets that overlap are one. */
const found = (bytes: Buffer, needles: readonly Buffer[], covered: number): [number, number][] => {
  const places: [number, number][] = covered > 0 ? [[0, covered]] : []
  for (const needle of needles)
    for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + needle.length))
      places.push([at, at + needle.length])
  places.sort(([a], [b]) => a - b)
  const merged: [number, number][] = []
  for (const [start, end] of places) {
    const last = merged.at(-1)
    if (last && start < last[1]) last[1] = Math.max(last[1], end)
    else merged.push([start, end])
  }
  return merged
}
