import xterm from '@xterm/headless'
import { describe, expect, it } from 'vitest'
import { mendXterm } from './mends.ts'

const open = ({ cols = 20, rows = 6, scrollback = 50 } = {}) => {
  const terminal = new xterm.Terminal({ cols, rows, scrollback, allowProposedApi: true })
  mendXterm(terminal)
  const write = (text: string) => new Promise<void>((parsed) => terminal.write(text, parsed))
  const lines = () =>
    Array.from({ length: terminal.buffer.active.length }, (_, row) =>
      terminal.buffer.active.getLine(row)?.translateToString(true),
    )
  return { terminal, write, lines }
}

it.each(['1J', '?1J'])('goes on after CSI %s at the last cell of a screen that has not scrolled', async (sequence) => {
  const { write, lines } = open()
  await write(`text\x1b[6;20H\x1b[${sequence}\x1b[1;1Hon`)
  expect(lines()).toEqual(['on', '', '', '', '', ''])
})

describe('a terminal made smaller and larger again', () => {
  it('has all the lines of its screen without any above', async () => {
    const { terminal, write, lines } = open({ cols: 19, rows: 8, scrollback: 0 })
    await write('\x1b#8')
    terminal.resize(8, 2)
    terminal.resize(35, 8)
    await write(`\x1b[6H${'x'.repeat(200)}\x1b[8;1H\x1b[Kend`)
    expect(lines()).toHaveLength(8)
    expect(lines()[7]).toBe('end')
  })

  it('keeps a region at the bottom scrolling', async () => {
    const { terminal, write, lines } = open({ cols: 22, rows: 8, scrollback: 0 })
    await write('\x1b[5d')
    terminal.resize(3, 6)
    await write('\x1b[5r\x1b[6;1Hone\r\ntwo')
    expect(lines().slice(4)).toEqual(['one', 'two'])
  })

  it('has no lines above its alternate screen', async () => {
    const { terminal, write, lines } = open({ rows: 6 })
    terminal.resize(20, 5)
    await write('\x1b[?1049h\x1b[5;1Hlast\r\nnext')
    expect(lines()).toEqual(['', '', '', 'last', 'next'])
    terminal.resize(20, 9)
    terminal.resize(29, 11)
    await write(`\x1b[11;1H${'x'.repeat(60)}`)
    expect(lines()).toHaveLength(11)
  })
})
