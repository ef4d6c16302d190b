import { describe, expect, it } from 'vitest'
import { append, emptyTranscript, plainText, transcriptText } from './transcript.ts'

describe('a transcript', () => {
  it('keeps the streams apart in the order they spoke', () => {
    let transcript = append(emptyTranscript, 'stdout', 'one\n')
    transcript = append(transcript, 'stdout', 'two\n')
    transcript = append(transcript, 'stderr', 'oops\n')
    transcript = append(transcript, 'stdout', 'three\n')
    expect(transcript.segments.map(({ stream, text }) => [stream, text])).toEqual([
      ['stdout', 'one\ntwo\n'],
      ['stderr', 'oops\n'],
      ['stdout', 'three\n'],
    ])
    expect(transcript).toMatchObject({ length: 19, dropped: 0 })
  })

  it('leaves finished segments as they are, so that only the last one is drawn anew', () => {
    const first = append(emptyTranscript, 'stdout', 'x'.repeat(40_000))
    const second = append(first, 'stdout', 'y')
    expect(second.segments.slice(0, -1)).toEqual(first.segments.slice(0, -1))
    expect(second.segments[0]).toBe(first.segments[0])
  })

  it('drops whole lines from the start once it is full, and counts them', () => {
    let transcript = emptyTranscript
    for (let line = 0; line < 100; line++)
      transcript = append(transcript, 'stdout', `line ${String(line).padStart(3, '0')}\n`, 50)
    expect(transcriptText(transcript)).toBe('line 095\nline 096\nline 097\nline 098\nline 099\n')
    expect(transcript.length + transcript.dropped).toBe(900)
  })

  it('stays within its limit without a single line end, whatever the size of a chunk', () => {
    const transcript = append(
      append(emptyTranscript, 'stdout', 'a'.repeat(70_000), 1000),
      'stderr',
      'b'.repeat(10),
      1000,
    )
    expect(transcript).toMatchObject({ length: 1000, dropped: 69_010 })
    expect(transcriptText(transcript).endsWith('abbbbbbbbbb')).toBe(true)
  })

  it('never keeps half of a character', () => {
    const transcript = append(emptyTranscript, 'stdout', `x${'😀'.repeat(20_000)}`)
    expect(transcript.segments.every(({ text }) => text.isWellFormed())).toBe(true)
  })

  it('gives each segment a key of its own, also after trimming', () => {
    let transcript = emptyTranscript
    for (let i = 0; i < 50; i++) transcript = append(transcript, i % 2 ? 'stderr' : 'stdout', 'abc\n', 40)
    const keys = transcript.segments.map(({ index }) => index)
    expect(new Set(keys).size).toBe(keys.length)
    expect(keys).toEqual([...keys].sort((a, b) => a - b))
  })
})

describe('plain text', () => {
  const plain = (...chunks: string[]) => {
    const toPlain = plainText()
    return chunks.map(toPlain).join('')
  }

  it('drops colours, titles and cursor moves', () => {
    expect(plain('\x1b[1;31mred\x1b[0m \x1b]0;title\x07\x1b[2Kplain\x1b(B\n')).toBe('\x1b[1;31mred\x1b[0m plain\n')
  })

  it('drops a sequence that is split between chunks', () => {
    expect(plain('a\x1b', '[3', '1mb\x1b]8;;http://x', '\x1b', '\\c')).toBe('a\x1b[31mbc')
  })

  it('reads every line end as one, also when it is split', () => {
    expect(plain('a\r\nb\r', '\nc\rd\n')).toBe('a\nb\nc\nd\n')
  })

  it('shows what is left of control characters', () => {
    expect(plain('\x00a\x7f\tb')).toBe('␀a␡\tb')
  })
})
