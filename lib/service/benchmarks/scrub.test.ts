import { buffer } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { createScrubber } from './scrub.ts'

async function* cutInto(text: string, size: number) {
  const bytes = Buffer.from(text)
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size)
}

const scrubbed = async (text: string, secrets: string[], size: number) =>
  (await buffer(createScrubber(secrets).bytes(cutInto(text, size)))).toString()

describe('a scrubber', () => {
  const cases: [name: string, secrets: string[], text: string, expected: string][] = [
    [
      'masks a value wherever it is',
      ['hunter2'],
      'hunter2 is hunter2hunter2, not hunter3',
      '*** is ******, not hunter3',
    ],
    ['masks several values', ['alpha', 'beta'], 'alpha, beta, gamma', '***, ***, gamma'],
    ['masks values that overlap as one', ['abcde', 'defgh'], '-abcdefgh-', '-***-'],
    ['masks the longer of two that begin alike', ['key', 'key-and-more'], 'a key-and-more b', 'a *** b'],
    ['masks a value inside another', ['secret', 'my-secret-is'], 'my-secret-is secret', '*** ***'],
    ['masks values that overlap without an end', ['abc', 'cab'], `-${'abc'.repeat(200)}-`, '-***-'],
    ['makes nothing longer', ['x'], 'axb', 'a*b'],
    ['leaves alone what only begins like a value', ['hunter2'], 'hunter hunter', 'hunter hunter'],
    ['masks a value as JSON spells it', ['say "hi"\n'], JSON.stringify({ a: 'say "hi"\n' }), '{"a":"***"}'],
    ['masks values that are no ASCII', ['pässwörd'], 'ä pässwörd ö', 'ä *** ö'],
    ['masks nothing for an empty value', [''], 'text', 'text'],
  ]
  it.each(cases)('%s', async (_, secrets, text, expected) => {
    for (const size of [1, 2, 3, 5, 7, 1000])
      expect(await scrubbed(text, secrets, size), `cut at ${size}`).toBe(expected)
    expect(createScrubber(secrets).text(text)).toBe(expected)
  })
})
