import { expect, it } from 'vitest'
import { egressText, parsePorts, portsText } from './rules.ts'

const none = {
  allow_all: false,
  allow_devbox_to_devbox: false,
  allow_agent_gateway: false,
  allow_mcp_gateway: false,
  allow_runloop_mirrors: false,
  allowed_hostnames: [],
  allowed_cidrs: [],
}

it('reads ports as they are written, and writes them back', () => {
  const ports = [{ port: 443 }, { port: 8000, end_port: 8100, protocol: 'TCP' as const }]
  expect(parsePorts('443, 8000-8100/tcp')).toEqual(ports)
  expect(portsText(ports)).toBe('443, 8000-8100/tcp')
  expect(parsePorts(' ')).toEqual([])
  expect(portsText(null)).toBe('')
})

it.each(['http', '80;443', '80/icmp', '-80'])('rejects %s', (text) => {
  expect(parsePorts(text)).toBeUndefined()
})

it('summarizes a policy', () => {
  expect(egressText(none)).toBe('Nothing')
  expect(egressText({ ...none, allow_all: true, allow_devbox_to_devbox: true })).toBe('All connections')
  expect(egressText({ ...none, allowed_hostnames: ['a.org', 'b.org'], allow_mcp_gateway: true })).toBe(
    '2 host names, MCP gateway',
  )
})
