import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { hasSwarm } from './has-swarm.ts'
import { ownSwarm, sharedSwarm } from './swarm.ts'

const leftovers = (folder: string, subnet: string) => ({
  processes: spawnSync('pgrep', ['--full', folder], { encoding: 'utf8' }).stdout,
  mounts: spawnSync('grep', ['--fixed-strings', folder, '/proc/mounts'], { encoding: 'utf8' }).stdout,
  links: spawnSync('ip', ['-brief', 'address', 'show', 'to', `${subnet}/24`], { encoding: 'utf8' }).stdout,
})

describe.runIf(hasSwarm)('a swarm for tests', () => {
  it('is one for all files of a run, with the same images on all nodes', async () => {
    const swarm = await sharedSwarm()
    const image = await swarm.image('empty')
    const ids = swarm.nodes.map(({ api }) => api.json<{ Id: string }>('GET', `/images/${image}/json`))
    expect(new Set((await Promise.all(ids)).map(({ Id }) => Id)).size).toBe(1)
    expect((await sharedSwarm()).registry).toBe(swarm.registry)
  })

  it('loses machines, its network and its registry, gets them back and leaves nothing', async () => {
    const swarm = await ownSwarm()
    const image = await swarm.image('busybox')
    const [manager, , node] = swarm.nodes
    const inspect = () => node.api.json('GET', `/images/${image}/json`)
    const before = await inspect()
    await node.kill()
    await expect(node.api.json('GET', '/_ping', { timeoutMs: 500 })).rejects.toThrow()
    await node.revive()
    expect(await inspect()).toEqual(before)
    node.disconnect()
    await expect(node.api.json('GET', '/_ping', { timeoutMs: 500 })).rejects.toThrow()
    node.reconnect()
    await node.untilUp()
    await manager.killDaemon()
    await manager.reviveDaemon()
    await swarm.stopRegistry()
    await swarm.startRegistry()
    await expect
      .poll(async () =>
        (await manager.api.json<{ Status: { State: string } }[]>('GET', '/nodes')).map(({ Status }) => Status.State),
      )
      .toEqual(['ready', 'ready', 'ready'])
    const subnet = manager.address
    await swarm.close()
    expect(leftovers(swarm.folder, subnet)).toEqual({ processes: '', mounts: '', links: '' })
  })
})
