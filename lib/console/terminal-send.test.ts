import { describe, expect, it } from 'vitest'
import { askTerminals, promptText, serveTerminals, type TerminalErrand } from './terminal-send.ts'

const errand: TerminalErrand = { kind: 'put', text: 'ls' }

describe('what is asked of terminals', () => {
  it('waits for their page and comes to it in order', () => {
    const got: TerminalErrand[] = []
    askTerminals('dbx_1', { kind: 'new-tab' })
    askTerminals('dbx_1', errand)
    askTerminals('dbx_2', errand)
    const end = serveTerminals('dbx_1', (each) => got.push(each))
    expect(got).toEqual([{ kind: 'new-tab' }, errand])
    askTerminals('dbx_1', { kind: 'reopen' })
    expect(got).toHaveLength(3)
    end()
    serveTerminals('dbx_2', () => undefined)()
  })

  it('is asked once, also of a page that comes back', () => {
    askTerminals('dbx_3', errand)
    serveTerminals('dbx_3', () => undefined)()
    const got: TerminalErrand[] = []
    serveTerminals('dbx_3', (each) => got.push(each))()
    expect(got).toEqual([])
  })

  it('is forgotten when the page does not come in time', () => {
    askTerminals('dbx_4', errand, 0)
    const got: TerminalErrand[] = []
    serveTerminals('dbx_4', (each) => got.push(each), 30_001)()
    expect(got).toEqual([])
  })

  it('stays with the page that came last, also when the one before it ends later', () => {
    const got: string[] = []
    const endFirst = serveTerminals('dbx_5', () => got.push('first'))
    const endSecond = serveTerminals('dbx_5', () => got.push('second'))
    endFirst()
    askTerminals('dbx_5', errand)
    expect(got).toEqual(['second'])
    endSecond()
  })
})

describe('promptText', () => {
  const put = (text: string, bracketedPaste = true) => promptText(text, { bracketedPaste })

  it('never ends a line, so that nothing is run', () => {
    for (const end of ['', '\n', '\r', '\r\n', '\n\n\r']) expect(put(`make test${end}`)).toBe('make test')
    expect(put('make test\n', false)).toBe('make test')
  })

  it('puts several lines only where they are told from typing', () => {
    expect(put('a\nb\n')).toBe('a\nb')
    expect(put('a\nb\n', false)).toBe(null)
    expect(put('a\rb', false)).toBe(null)
  })

  it('lets nothing end the paste or complete the line', () => {
    expect(put('a\x1b[201~\rid')).toBe('a[201~\rid')
    expect(put('a\x03b\x00')).toBe('ab')
    expect(put('a\tb', false)).toBe('a b')
  })

  it('has nothing to put where there is nothing', () => {
    expect(put('\n')).toBe(null)
    expect(put('\x1b')).toBe(null)
  })
})
