import { withoutStyles } from './ansi.ts'

/** What a command has written, in the order it arrived, as much of it as is worth keeping in a page. */

export type OutputStream = 'stdout' | 'stderr'

export interface Segment {
  /** Grows by one for each segment ever begun, so that a list of them has stable keys. */
  index: number
  stream: OutputStream
  text: string
}

export interface Transcript {
  segments: readonly Segment[]
  /** Characters kept. */
  length: number
  /** Characters dropped at the start because the transcript was full. */
  dropped: number
}

/** About 13 000 lines of 80 characters; more makes the page slow and nobody reads it here. */
const maxTranscriptLength = 1024 * 1024
/** Appending touches the last segment only, so it must stay cheap to draw anew. */
const segmentLength = 16 * 1024

export const emptyTranscript: Transcript = { segments: [], length: 0, dropped: 0 }

export const append = (
  transcript: Transcript,
  stream: OutputStream,
  text: string,
  limit = maxTranscriptLength,
): Transcript => {
  if (text === '') return transcript
  const segments = [...transcript.segments]
  let next = (segments.at(-1)?.index ?? -1) + 1
  let rest = text
  while (rest !== '') {
    const last = segments.at(-1)
    const room = last?.stream === stream ? segmentLength - last.text.length : 0
    if (last && room > 0) {
      const piece = takePiece(rest, room)
      segments[segments.length - 1] = { ...last, text: last.text + piece }
      rest = rest.slice(piece.length)
    } else {
      const piece = takePiece(rest, segmentLength)
      segments.push({ index: next++, stream, text: piece })
      rest = rest.slice(piece.length)
    }
  }
  return trim({ segments, length: transcript.length + text.length, dropped: transcript.dropped }, limit)
}

/** At least one character and never half of one. */
const takePiece = (text: string, room: number): string => {
  const splitsPair = text.length > room && /[\uD800-\uDBFF]/.test(text[room - 1] ?? '')
  return text.slice(0, splitsPair ? room + 1 : room)
}

const trim = (transcript: Transcript, limit: number): Transcript => {
  let excess = transcript.length - limit
  if (excess <= 0) return transcript
  const segments = [...transcript.segments]
  let dropped = 0
  while (excess > 0) {
    const first = segments.shift()
    if (!first) break
    if (first.text.length <= excess) {
      dropped += first.text.length
      excess -= first.text.length
      continue
    }
    // From the next whole line on: half a line at the top reads as if it were all of it.
    const lineEnd = first.text.indexOf('\n', excess - 1)
    const cut = lineEnd === -1 ? excess : lineEnd + 1
    dropped += cut
    excess = 0
    if (cut < first.text.length) segments.unshift({ ...first, text: first.text.slice(cut) })
  }
  return { segments, length: transcript.length - dropped, dropped: transcript.dropped + dropped }
}

/** Without the styles it is shown in. */
export const transcriptText = (transcript: Transcript): string =>
  withoutStyles(transcript.segments.map(({ text }) => text).join(''))

// Control sequences (CSI, OSC and its kind, two-byte escapes): cursor moves mean nothing in a log.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const escapeSequence = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\-~])/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: an escape that the next chunk may complete
const openEscape = /\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]{0,4096}\x1b?|[ -/]*)?$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: everything a log cannot show but tab and newline
const otherControls = /[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]|\x1b(?!\[[\d;:]*m)/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: the one sequence that is kept
const isStyle = /^\x1b\[[\d;:]*m$/

/**
 * Turns the chunks of one stream into lines: no terminal sequences but those of colours and weights, every line end a
 * newline, what is left of control characters shown as symbols. A sequence may be split between chunks.
 */
export const plainText = (): ((chunk: string) => string) => {
  let held = ''
  return (chunk) => {
    let text = held + chunk
    held = openEscape.exec(text)?.[0] ?? (text.endsWith('\r') ? '\r' : '')
    text = text.slice(0, text.length - held.length)
    return text
      .replace(escapeSequence, (sequence) => (isStyle.test(sequence) ? sequence : ''))
      .replace(/\r+\n?/g, '\n')
      .replace(otherControls, (control) =>
        control === '\x7f' ? '\u2421' : String.fromCharCode(0x2400 + control.charCodeAt(0)),
      )
  }
}
