import xterm from '@xterm/headless'
import { describe, expect, it } from 'vitest'
import { boundXterm } from './bounds.ts'

const open = ({ cols = 20, rows = 6, scrollback = 50 } = {}) => {
  const terminal = new xterm.Terminal({ cols, rows, scrollback, allowProposedApi: true })
  boundXterm(terminal)
  const write = (text: string) => new Promise<void>((parsed) => terminal.write(text, parsed))
  const lines = () =>
    Array.from({ length: terminal.buffer.active.length }, (_, row) =>
      terminal.buffer.active.getLine(row)?.translateToString(true),
    )
  const cells = () => {
    const { active } = terminal.buffer
    return Array.from({ length: active.length * cols }, (_, at) =>
      active
        .getLine(Math.floor(at / cols))
        ?.getCell(at % cols)
        ?.getChars(),
    )
  }
  return { terminal, write, lines, cells }
}

const filled = Array.from({ length: 6 }, (_, row) => `line ${row}`).join('\r\n')

describe('an unbounded count', () => {
  // Unbounded, each of these would block the process for hours.
  it.each([...'STLMIZb'])('of CSI %s ends immediately, and later output is parsed', async (final) => {
    const { terminal, write, lines } = open()
    await write(`${filled}\x1b[3;5H\x1b[2147483647${final}\x1b[6;1H\x1b[2Kend`)
    expect(lines()[terminal.buffer.active.baseY + 5]).toBe('end')
  })
})

it('limits combining characters per cell', async () => {
  const { write, cells } = open()
  await write(`e${'\u0301'.repeat(100_000)}`)
  expect(Math.max(...cells().map((cell) => [...(cell ?? '')].length))).toBeLessThanOrEqual(101)
})

it.each(['1J', '?1J'])('continues after CSI %s in the last cell of an unscrolled screen', async (sequence) => {
  const { write, lines } = open()
  await write(`text\x1b[6;20H\x1b[${sequence}\x1b[1;1Hon`)
  expect(lines()).toEqual(['on', '', '', '', '', ''])
})

describe('a terminal that shrinks and grows again', () => {
  it('keeps all lines of its screen without scrollback', async () => {
    const { terminal, write, lines } = open({ cols: 19, rows: 8, scrollback: 0 })
    await write('\x1b#8')
    terminal.resize(8, 2)
    terminal.resize(35, 8)
    await write(`\x1b[6H${'x'.repeat(200)}\x1b[8;1H\x1b[Kend`)
    expect(lines()).toHaveLength(8)
    expect(lines()[7]).toBe('end')
  })

  it('has no scrollback on the alternate screen', async () => {
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
