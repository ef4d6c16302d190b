import headless from '@xterm/headless'
import { expect, it } from 'vitest'
import { restoreColoursSetBefore } from './colours.ts'

const restores = '\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\'

const restored = async (output: string): Promise<number[]> => {
  const terminal = new headless.Terminal({ allowProposedApi: true })
  const seen: number[] = []
  // In the place of xterm's own: it is asked after the one under test.
  for (const code of [104, 110, 111, 112]) terminal.parser.registerOscHandler(code, () => seen.push(code) > 0)
  restoreColoursSetBefore(terminal)
  await new Promise<void>((parsed) => terminal.write(output, parsed))
  terminal.dispose()
  return seen
}

it('restores no colour where none was set', async () => {
  expect(await restored(restores)).toEqual([])
})

it.each(['4;1;#ff0000', '10;#ff0000', '11;#ff0000', '12;#ff0000'])('restores all after OSC %s', async (set) => {
  expect(await restored(`${restores}\x1b]${set}\x07${restores}${restores}`)).toEqual([
    104, 110, 111, 112, 104, 110, 111, 112,
  ])
})
