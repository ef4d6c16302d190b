import { describe, expect, it } from 'vitest'
import { tunnelAddress } from './tunnel-address.ts'

describe('tunnelAddress', () => {
  it('stands before the name of the service', () => {
    expect(tunnelAddress('https://api.runs.example', 'key', 8080)).toBe('https://8080-key.tunnel.runs.example/')
    expect(tunnelAddress('http://box.lan:4500', 'key', 80, '/a?b#c')).toBe('http://80-key.tunnel.box.lan:4500/a?b#c')
  })

  it('calls loopback by its name', () => {
    for (const service of ['http://127.0.0.1:4500', 'http://localhost:4500', 'http://[::1]:4500'])
      expect(tunnelAddress(service, 'key', 3000)).toBe('http://3000-key.tunnel.localhost:4500/')
  })

  it('is undefined for IP addresses and invalid ports or keys', () => {
    expect(tunnelAddress('http://192.168.1.5:4500', 'key', 3000)).toBe(null)
    expect(tunnelAddress('http://[fd00::1]:4500', 'key', 3000)).toBe(null)
    for (const port of [0, -1, 65_536, 1.5, Number.NaN])
      expect(tunnelAddress('http://localhost', 'key', port)).toBe(null)
    expect(tunnelAddress('http://localhost', 'a.b/', 80)).toBe(null)
    expect(tunnelAddress('nonsense', 'key', 80)).toBe(null)
  })

  it('stays at its host, whatever is printed behind the port', () => {
    for (const path of [
      '//evil.example/x',
      '@evil.example',
      '/\\evil.example',
      '\\\\evil.example',
      ':99/x',
      'javascript:x',
    ])
      expect(new URL(tunnelAddress('http://localhost:4500', 'key', 80, path) ?? '').host).toBe(
        '80-key.tunnel.localhost:4500',
      )
  })
})
