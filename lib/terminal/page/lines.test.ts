import headless from '@xterm/headless'
import { expect, it } from 'vitest'
import { terminalText } from './lines.ts'

const shown = async (output: string) => {
  const terminal = new headless.Terminal({ cols: 10, rows: 4, scrollback: 3, allowProposedApi: true })
  await new Promise<void>((resolve) => terminal.write(output, resolve))
  return terminalText(terminal.buffer.active)
}

it('contains scrollback and screen without trailing blanks', async () => {
  expect(await shown('one   \r\n\r\n  two')).toEqual({ text: 'one\n\n  two', lines: 3, cursorLine: 2 })
})

it('joins wrapped lines and keeps blanks at the edge', async () => {
  expect((await shown('12345678  abc\r\nnext')).text).toBe('12345678  abc\nnext')
})

it('is limited to the scrollback', async () => {
  const { text } = await shown(Array.from({ length: 20 }, (_, i) => `line ${i}`).join('\r\n'))
  expect(text.split('\n')).toEqual(['line 13', 'line 14', 'line 15', 'line 16', 'line 17', 'line 18', 'line 19'])
})

it('shows the alternate screen while it is active', async () => {
  expect((await shown('shell\r\n\x1b[?1049h\x1b[Hprogram')).text).toBe('program')
})

it('is empty for an empty terminal', async () => {
  expect(await shown('')).toEqual({ text: '', lines: 0, cursorLine: 0 })
})
