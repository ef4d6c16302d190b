import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { clipboardAnswers, clipboardPolicy, clipboardRequest, maxClipboardBytes } from './clipboard-request.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('a clipboard request', () => {
  it('decodes UTF-8 text', () => {
    for (const data of [
      `c;${base64('é 日本')}`,
      `;${base64('é 日本')}`,
      `pc;${base64('é 日本')}`,
      `s0;${base64('é 日本')}`,
    ])
      expect(clipboardRequest(data)).toEqual({ kind: 'write', text: 'é 日本' })
  })

  it('recognizes a read request', () => {
    expect(clipboardRequest('c;?')).toEqual({ kind: 'read' })
    expect(clipboardRequest(';?')).toEqual({ kind: 'read' })
  })

  it('reports oversized text', () => {
    const at = (bytes: number) => clipboardRequest(`c;${Buffer.alloc(bytes, 'a').toString('base64')}`)
    expect(at(maxClipboardBytes)).toMatchObject({ kind: 'write' })
    expect(at(maxClipboardBytes + 3)).toEqual({ kind: 'too_large', sizeBytes: expect.any(Number) })
  })

  it.each(['', 'c', 'p;YQ==', 'x;YQ==', 'c;', 'c;!!', 'c;YQ=', ';;YQ==', 'c;YQ==;YQ=='])('is none: %s', (data) => {
    expect(clipboardRequest(data)).toBeNull()
  })
})

describe('a remembered answer', () => {
  let kept: Map<string, string>
  beforeEach(() => {
    kept = new Map()
    vi.stubGlobal('localStorage', {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => kept.set(key, value),
    })
  })
  afterEach(() => vi.unstubAllGlobals())

  it('overrides the setting, except for never', () => {
    expect(clipboardPolicy('ask', 'dbx_1')).toBe('ask')
    clipboardAnswers.set('dbx_1', 'never')
    clipboardAnswers.set('dbx_1', 'always')
    clipboardAnswers.set('dbx_2', 'never')
    expect([clipboardPolicy('ask', 'dbx_1'), clipboardPolicy('always', 'dbx_2')]).toEqual(['always', 'never'])
    expect(clipboardPolicy('never', 'dbx_1')).toBe('never')
    expect(clipboardAnswers.count()).toBe(2)
    clipboardAnswers.forget()
    expect(clipboardPolicy('always', 'dbx_2')).toBe('always')
  })

  it('is dropped after 200 other devboxes', () => {
    for (let at = 0; at <= 200; at++) clipboardAnswers.set(`dbx_${at}`, 'always')
    expect([clipboardPolicy('ask', 'dbx_0'), clipboardPolicy('ask', 'dbx_1')]).toEqual(['ask', 'always'])
  })

  it('tolerates anything in storage', () => {
    for (const text of ['{}', 'null', '[null, 1, ["a"], ["dbx_1", "maybe"], [1, "always"]]', '[[']) {
      kept.set('devdeck:terminal-clipboard', text)
      expect(clipboardPolicy('ask', 'dbx_1')).toBe('ask')
    }
  })
})
