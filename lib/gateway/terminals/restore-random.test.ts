import { expect, it } from 'vitest'
import { TerminalMirror, type TerminalSnapshot } from './mirror.ts'
import { PlainTerminal } from './testing-plain-terminal.ts'
import { randomNumbers, randomOutput } from './testing-random-output.ts'

/**
 * Cuts the output after every byte and compares a terminal that received both parts with one restored from a
 * snapshot in between.
 */
const compare = async (seed: number, pieces: number) => {
  const random = randomNumbers(seed)
  const cols = 2 + Math.floor(random() * 20)
  const rows = 2 + Math.floor(random() * 7)
  const scrollback = Math.floor(random() * 30)
  const printed = randomOutput(random, { cols, rows, pieces })
  for (let cut = 0; cut <= printed.length; cut++) {
    const heard = new PlainTerminal(cols, rows, scrollback).feed(printed.subarray(0, cut))
    const mirror = new TerminalMirror({ cols, rows, scrollback, answer: () => undefined })
    mirror.write(printed.subarray(0, cut))
    const { bytes } = await new Promise<TerminalSnapshot>((done) => mirror.snapshot(scrollback, done))
    mirror.dispose()
    if (heard.waitsBehindNothing) continue
    const shown = new PlainTerminal(cols, rows, scrollback).feed('before\x1b[?1049h\x1b[41m\x1b]2;cu').feed(bytes)
    const rest = printed.subarray(cut)
    const where = `seed ${seed}, ${cols}x${rows}, cut at ${cut} of ${JSON.stringify(printed.toString())}`
    expect([where, ...shown.feed(rest).look]).toEqual([where, ...heard.feed(rest).look])
    heard.dispose()
    shown.dispose()
  }
}

// Many seeds with few chunks each keep failures readable.
it.each(Array.from({ length: 6 }, (_, block) => block * 10))(
  'restores random output, seeds from %i on',
  async (first) => {
    for (let seed = first; seed < first + 10; seed++) await compare(seed, 6)
  },
)

it.each([5001, 5002])('restores longer random output, seed %i', async (seed) => {
  await compare(seed, 40)
})
