const mask = Buffer.from('***')

export interface Scrubber {
  text(text: string): string
  /** Also masks secrets that span two chunks. Never returns more bytes than it reads. */
  bytes(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
}

/** Masks values, plain and JSON-escaped. Unspecified: values in any other encoding. They are not found. */
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
    // A secret may begin at the end of this chunk.
    const cut = Math.max(0, bytes.length - longest + 1)
    const { parts, done } = masked(bytes, needles, covered, cut)
    yield* parts
    held = bytes.subarray(cut)
    covered = Math.max(0, done - cut)
  }
  yield* masked(held, needles, covered).parts
}

/** The first `covered` bytes have been masked already; from `cut` on, only the rest of a secret is. */
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
