import xterm from '@xterm/headless'
import { describe, expect, it } from 'vitest'
import { boundCounts } from './counts.ts'

const open = () => {
  const terminal = new xterm.Terminal({ cols: 20, rows: 6, scrollback: 50, allowProposedApi: true })
  const stop = boundCounts(terminal)
  const write = (text: string) => new Promise<void>((parsed) => terminal.write(text, parsed))
  const lines = () =>
    Array.from({ length: terminal.buffer.active.length }, (_, row) =>
      terminal.buffer.active.getLine(row)?.translateToString(true),
    )
  return { terminal, write, lines, stop }
}

const filled = Array.from({ length: 6 }, (_, row) => `line ${row}`).join('\r\n')

describe('a count without bounds', () => {
  // Each of these would take hours, and the console with it.
  it.each([...'STLMIZb'])('of CSI %s ends at once, and what follows is parsed', async (final) => {
    const { terminal, write, lines } = open()
    await write(`${filled}\x1b[3;5H\x1b[2147483647${final}\x1b[6;1H\x1b[2Kend`)
    expect(lines()[terminal.buffer.active.baseY + 5]).toBe('end')
  })

  it.each([...'STLMIZ'])('of CSI %s does what the largest one that matters does', async (final) => {
    const [huge, large] = [open(), open()]
    await huge.write(`${filled}\x1b[3;5H\x1b[99999999${final}x`)
    await large.write(`${filled}\x1b[3;5H\x1b[20${final}x`)
    expect(huge.lines()).toEqual(large.lines())
  })
})

it('leaves counts alone that a program may mean', async () => {
  const { write, lines } = open()
  await write('a\x1b[9b\r\nb\x1b[2Ic\x1b[1;1H\x1b[1L')
  expect(lines().slice(0, 3)).toEqual(['', 'aaaaaaaaaa', 'b               c'])
})

it('can be taken off again', async () => {
  const { write, lines, stop } = open()
  stop()
  await write('a\x1b[45b')
  expect(lines().slice(0, 3)).toEqual(['a'.repeat(20), 'a'.repeat(20), 'a'.repeat(6)])
})
