import { describe, expect, it } from 'vitest'
import { EventParser, parseEvents, readEvents, type ServerEvent } from './events.ts'

const bodyOf = (chunks: readonly Uint8Array[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })

const split = (bytes: Uint8Array, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size))

const read = async (text: string, size = Number.POSITIVE_INFINITY) => {
  const bytes = new TextEncoder().encode(text)
  const found: ServerEvent[] = []
  for await (const event of parseEvents(bodyOf(split(bytes, Math.min(size, bytes.length || 1))))) found.push(event)
  return found
}

const message = (data: string, event = 'message') => ({ event, data })

const corpus: [what: string, text: string, events: ServerEvent[]][] = [
  ['nothing', '', []],
  ['one event, with or without a space after the colon', 'data:1\n\ndata:  2\n\n', [message('1'), message(' 2')]],
  ['mixed line endings', 'data: 1\r\n\ndata: 2\r\r\ndata: 3\n\r\n', [message('1'), message('2'), message('3')]],
  ['several data lines', 'data: 1\ndata\ndata: 2\n\n', [message('1\n\n2')]],
  [
    'comments, ids and retry times',
    ': connected\n\nid: 7\nretry: 10\ndata: 1\n: between\ndata: 2\n\n',
    [message('1\n2')],
  ],
  ['a name', 'event: error\ndata: {"a":"b:c"}\n\ndata: 1\n\n', [message('{"a":"b:c"}', 'error'), message('1')]],
  ['a name without data', 'event: ping\n\ndata: 1\n\n', [message('1')]],
  ['empty data', 'data:\n\n', [message('')]],
  ['an event that was cut off', 'data: 1\n\ndata: 2\n', [message('1')]],
  ['a byte order mark', '\uFEFFdata: 1\n\n\uFEFFdata: 2\n\n', [message('1')]],
  ['letters of two, three and four bytes', 'data: é\u2028😀\n\n', [message('é\u2028😀')]],
  ['unknown fields', 'colour: red\ndata: 1\nDATA: 2\n data: 3\n\n', [message('1')]],
]

describe('parseEvents', () => {
  it.each(corpus)('reads %s in 25 chunk sizes', async (_, text, events) => {
    for (let size = 1; size <= 24; size++) expect(await read(text, size), `in chunks of ${size}`).toEqual(events)
    expect(await read(text)).toEqual(events)
  })

  it('cancels the body when iteration stops', async () => {
    let canceled = false
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode('data: 1\n\n')),
      cancel: () => {
        canceled = true
      },
    })
    for await (const event of parseEvents(body)) {
      expect(event).toEqual(message('1'))
      break
    }
    expect(canceled).toBe(true)
  })
})

describe('an event that is too long', () => {
  it.each([1, 7, 1_000])('is skipped without losing others, in chunks of %i', (size) => {
    const parser = new EventParser(50)
    const long = `event: long\ndata: ${'x'.repeat(200)}\ndata: more of it\n\n`
    const text = `data: before\n\n${long}data: after\n\n${long}${'data: 1\n'.repeat(40)}\ndata: last\n\n`
    const found: ServerEvent[] = []
    for (let i = 0; i < text.length; i += size) found.push(...parser.push(text.slice(i, i + size)))
    expect(found).toEqual(['before', 'after', 'last'].map((data) => ({ event: 'message', data })))
  })
})

describe('readEvents', () => {
  it('yields the JSON of each event, counts others, and throws the error of an error event', async () => {
    const found: unknown[] = []
    let unreadable = 0
    const open = async () => new Response('data: {"a":1}\n\ndata: {"a"\n\nevent: error\ndata: sorry\n\ndata: 2\n\n')
    const reading = (async () => {
      const toError = (data: string) => new Error(data)
      for await (const event of readEvents(open, toError, () => unreadable++)) found.push(event)
    })()
    await expect(reading).rejects.toThrow('sorry')
    expect({ found, unreadable }).toEqual({ found: [{ a: 1 }], unreadable: 1 })
  })
})
