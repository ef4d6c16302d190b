import headless from '@xterm/headless'
import { expect, it, vi } from 'vitest'
import { internalsOf } from './internals.ts'

it('finds all parts in the headless build', () => {
  const terminal = new headless.Terminal({ allowProposedApi: true })
  expect(internalsOf(terminal).buffers.normal.lines.length).toBe(24)
})

it('finds all parts in the browser build', async () => {
  vi.stubGlobal('window', globalThis)
  const { default: xterm } = await import('@xterm/xterm')
  const core = internalsOf(new xterm.Terminal({ allowProposedApi: true }))
  expect(core._linkProviderService?.linkProviders).toHaveLength(1)
  vi.unstubAllGlobals()
})

it('names missing parts', () => {
  const terminal = new headless.Terminal({ allowProposedApi: true })
  const { _core: core } = terminal as unknown as { _core: object }
  const other = { _core: Object.create(core, { _charsetService: { value: {} }, unicodeService: { value: undefined } }) }
  expect(() => internalsOf(other)).toThrow(
    'missing unicodeService.charProperties, unicodeService._activeProvider, _charsetService._charsets',
  )
  expect(() => internalsOf({})).toThrow('buffers.normal.lines, ')
})
