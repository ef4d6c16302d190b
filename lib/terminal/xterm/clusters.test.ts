import graphemes from '@xterm/addon-unicode-graphemes'
import xterm from '@xterm/headless'
import { expect, it } from 'vitest'
import { boundClusters } from './clusters.ts'

const open = () => {
  const terminal = new xterm.Terminal({ cols: 20, rows: 4, scrollback: 10, allowProposedApi: true })
  terminal.loadAddon(new graphemes.UnicodeGraphemesAddon() as never)
  boundClusters(terminal)
  const write = (text: string) => new Promise<void>((parsed) => terminal.write(text, parsed))
  const cells = () => {
    const { active } = terminal.buffer
    return Array.from({ length: active.length * 20 }, (_, at) =>
      active
        .getLine(Math.floor(at / 20))
        ?.getCell(at % 20)
        ?.getChars(),
    )
  }
  return { write, cells }
}

it('lets no cell hold accents without end', async () => {
  const { write, cells } = open()
  await write(`e${'\u0301'.repeat(100_000)}`)
  expect(Math.max(...cells().map((cell) => [...(cell ?? '')].length))).toBeLessThanOrEqual(52)
})

it('leaves emoji of many parts, flags and stacked accents in their cells', async () => {
  const { write, cells } = open()
  const clusters = ['👩‍👩‍👧‍👦', '🏴󠁧󠁢󠁳󠁣󠁴󠁿', '🇩🇪', '🇫🇷', `Z${'\u0335'.repeat(40)}`]
  await write(clusters.join(''))
  expect(cells().filter((cell) => cell)).toEqual(clusters)
})
