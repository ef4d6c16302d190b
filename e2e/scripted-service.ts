import type { ServerResponse } from 'node:http'
import { pendingCountHeader } from '#lib/contract/evictions.ts'
import { startServer } from '#lib/gateway/testing.ts'

interface ScriptedDevbox {
  id: string
  name: string
  node: string
}

/** A service with only devboxes and their evictions, of which it can have thousands. Accepts every key. */
export const startScriptedService = async (boxes: readonly ScriptedDevbox[]) => {
  const devboxes = new Map(
    boxes.map(({ id, name, node }) => [
      id,
      {
        id,
        name,
        status: 'running',
        metadata: { job: 'nightly' },
        node: { hostname: node },
        create_time_ms: Date.now(),
        launch_parameters: { keep_alive_time_seconds: 86_400 },
        state_transitions: [{ status: 'running', transition_time_ms: Date.now() }],
      },
    ]),
  )
  let pending: string[] = []
  const watching = new Set<ServerResponse>()
  const refusing = new Set<string>()
  const { url, close } = await startServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://service')
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    const [, , area = '', id = '', part = ''] = pathname.split('/')
    if (pathname.endsWith('/watch')) {
      watching.add(response)
      request.on('close', () => watching.delete(response))
      const headers = { 'content-type': 'text/event-stream', [pendingCountHeader]: String(pending.length) }
      return response.writeHead(200, headers).write(`: connected\n\n${pending.join('')}`)
    }
    if (area === 'accounts') return answer(200, { id: 'acc', name: 'Ada' })
    const devbox = devboxes.get(id)
    if (area === 'devboxes' && part === 'suspend' && devbox) {
      if (refusing.has(id)) return answer(409, { code: 'conflict', message: 'A snapshot is being taken' })
      devbox.status = 'suspended'
      devbox.state_transitions.push({ status: 'suspended', transition_time_ms: Date.now() })
      pending = pending.filter((event) => !event.includes(`"${id}"`))
      return answer(200, devbox)
    }
    if (area !== 'devboxes' || part !== '')
      return answer(200, { [area]: [], [part]: [], has_more: false, total_count: 0 })
    if (id !== '') return devbox ? answer(200, devbox) : answer(404, { message: 'Not found' })
    const status = searchParams.get('status')
    const limit = Number(searchParams.get('limit') ?? 20)
    const listed = [...devboxes.values()].filter((each) => status === null || each.status === status)
    const from = listed.findIndex((each) => each.id === searchParams.get('starting_after')) + 1
    const page = listed.slice(from, from + limit)
    answer(200, { devboxes: page, has_more: from + limit < listed.length, total_count: listed.length })
  })
  return {
    url,
    close,
    /** Devboxes that can't be suspended. */
    refusing,
    evictAll: (deadlineMs: number) => {
      pending = boxes.map(({ id, node }) => {
        const eviction = { devbox_id: id, eviction_deadline_ms: deadlineMs, node }
        return `data: ${JSON.stringify(eviction)}\n\n`
      })
      for (const response of watching) response.write(pending.join(''))
    },
  }
}
