import headless from '@xterm/headless'
import { expect, it } from 'vitest'
import { terminalText } from './lines.ts'

const shown = async (output: string) => {
  const terminal = new headless.Terminal({ cols: 10, rows: 4, scrollback: 3, allowProposedApi: true })
  await new Promise<void>((resolve) => terminal.write(output, resolve))
  return terminalText(terminal.buffer.active)
}

it('contains scrollback and screen without trailing blanks', async () => {
  expect(await shown('one   \r\n\r\n  two')).toBe('one\n\n  two')
})

it('joins wrapped lines and keeps blanks at the edge', async () => {
  expect(await shown('12345678  abc\r\nnext')).toBe('12345678  abc\nnext')
})
