import { describe, expect, it } from 'vitest'
import { clipboardRequest, maxClipboardBytes } from './clipboard-request.ts'

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

  it('reports oversized text', () => {
    const at = (bytes: number) => clipboardRequest(`c;${Buffer.alloc(bytes, 'a').toString('base64')}`)
    expect(at(maxClipboardBytes)).toMatchObject({ kind: 'write' })
    expect(at(maxClipboardBytes + 3)).toEqual({ kind: 'too_large', sizeBytes: expect.any(Number) })
  })

  it.each(['c;?', ';?', '', 'c', 'p;YQ==', 'x;YQ==', 'c;', 'c;!!', 'c;YQ=', ';;YQ=='])(
    'is not recognized in %j',
    (data) => {
      expect(clipboardRequest(data)).toBeNull()
    },
  )
})
