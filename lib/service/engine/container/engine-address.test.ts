import { networkInterfaces } from 'node:os'
import { expect, it } from 'vitest'
import { createContainerEngine } from './container-engine.ts'
import { parseEngineAddress } from './engine-address.ts'

const ownAddress = Object.values(networkInterfaces()).flatMap((all) => all ?? [])[0]?.address

it.each([
  ['unix:///var/run/docker.sock', true],
  ['tcp://localhost:2375', true],
  [`tcp://${ownAddress}:2375`, true],
  ['tcp://192.0.2.1:2375', false],
  ['ssh://someone@127.0.0.1', false],
])('supports policies with host names on an engine of this host only: %s', async (url, isSupported) => {
  const address = parseEngineAddress(url, {})
  const engine = createContainerEngine({ address, serviceId: 'svc', defaultImage: 'base' })
  try {
    const problem = engine.networkProblem({ hostnames: ['example.org'] })
    expect(problem === undefined).toBe(isSupported)
    expect(engine.networkProblem('public')).toBeUndefined()
    expect(engine.networkProblem('none')).toBeUndefined()
  } finally {
    await engine.close()
  }
})
