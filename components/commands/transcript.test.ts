import { describe, expect, it } from 'vitest'
import { plainLine } from '#lib/browser/text/console-text.ts'
import { TranscriptWriter, transcriptText } from './transcript.ts'

const shown = (writer: TranscriptWriter) =>
  writer.transcript.segments.map(({ stream, lines }) => [stream, lines.map(plainLine)])

describe('a transcript', () => {
  it('separates the streams, in the order their lines started', () => {
    const writer = new TranscriptWriter()
    writer.append('stdout', 'one\ntw')
    writer.append('stderr', 'oops\n')
    writer.append('stdout', 'o\nthree\n')
    expect(shown(writer)).toEqual([
      ['stdout', ['one', 'two']],
      ['stderr', ['oops']],
      ['stdout', ['three']],
    ])
    expect(transcriptText(writer.transcript)).toBe('one\ntwo\noops\nthree')
  })

  it('shows a progress bar as one line, even while the other stream prints', () => {
    const writer = new TranscriptWriter()
    for (let frame = 1; frame <= 3000; frame++) {
      writer.append('stderr', `\r${frame}/3000 [####      ]`)
      if (frame % 1000 === 0) writer.append('stdout', `${frame} done\n`)
      if (frame % 100 === 0) expect(writer.transcript.segments[0]?.lines).toEqual([`${frame}/3000 [####      ]`])
    }
    writer.append('stderr', '\nFINISHED\n')
    expect(shown(writer)).toEqual([
      ['stderr', ['3000/3000 [####      ]']],
      ['stdout', ['1000 done', '2000 done', '3000 done']],
      ['stderr', ['FINISHED']],
    ])
  })

  it('reuses the objects of unchanged segments', () => {
    const writer = new TranscriptWriter()
    writer.append('stdout', 'x\n'.repeat(19_990))
    const { segments } = writer.transcript
    writer.append('stdout', 'y')
    const after = writer.transcript.segments
    expect(segments.length).toBeGreaterThan(10)
    expect(segments.slice(0, -1).every((segment, at) => segment === after[at])).toBe(true)
    expect(segments.at(-1)?.lines).not.toContain('y')
    expect(after.at(-1)?.lines.at(-1)).toBe('y')
    writer.append('stderr', 'z')
    expect(after.every((segment, at) => segment === writer.transcript.segments[at])).toBe(true)
  })

  it('drops whole lines from the start when full and counts them', () => {
    const writer = new TranscriptWriter(50)
    for (let line = 0; line < 100; line++) writer.append('stdout', `line ${String(line).padStart(3, '0')}\n`)
    const { transcript } = writer
    expect(transcriptText(transcript)).toBe('line 095\nline 096\nline 097\nline 098\nline 099')
    expect(transcript.length + transcript.dropped).toBe(900)
  })

  it('starts a new line when the start of the old one was dropped', () => {
    const writer = new TranscriptWriter(50)
    writer.append('stderr', '1%')
    for (let line = 0; line < 20; line++) writer.append('stdout', `line ${line}\n`)
    writer.append('stderr', '\r100%\n')
    expect(transcriptText(writer.transcript)).toMatch(/line 19\n100%$/)
  })

  it('stays within the limit when there are no line breaks', () => {
    const writer = new TranscriptWriter(1000)
    for (let piece = 0; piece < 70; piece++) {
      writer.append('stdout', 'a'.repeat(1000))
      expect(writer.transcript.length).toBeLessThanOrEqual(1001)
    }
    writer.append('stdout', 'end')
    const { transcript } = writer
    expect([transcript.dropped, transcriptText(transcript)]).toEqual([69_003, `${'a'.repeat(997)}end`])
  })

  it('keeps segment keys unique after some were dropped', () => {
    const writer = new TranscriptWriter(40)
    for (let i = 0; i < 50; i++) writer.append(i % 2 ? 'stderr' : 'stdout', 'abc\n')
    const keys = writer.transcript.segments.map(({ index }) => index)
    expect(new Set(keys).size).toBe(keys.length)
    expect(keys).toEqual([...keys].sort((a, b) => a - b))
  })
})
