import { type Benchmark, benchmarks } from '#lib/contract/benchmarks.ts'
import { implement } from '#lib/service/http/implement.ts'
import { invalid, notFound } from '#lib/service/kit/errors.ts'
import { newId } from '#lib/service/kit/ids.ts'
import type { Deps } from '#lib/service/parts.ts'
import type { BenchmarkFields } from '#lib/service/store/benchmarks.ts'
import { listPage, metadataHandlers, noPublic, withoutNull } from './pages.ts'

export const benchmarkRoutes = ({ store, benchmarkRuns, now }: Deps) => {
  const get = (account: string, id: string): Benchmark => store.benchmarks.get(account, id) ?? notFound('benchmark', id)

  const scenarioIds = (account: string, field: string, ids: readonly string[]): string[] => {
    const missing = store.scenarios.missing(account, [...new Set(ids)])
    if (missing.length > 0) throw invalid(...missing.map((id) => ({ field, message: `scenario ${id} does not exist` })))
    return [...new Set(ids)]
  }
  const change = (account: string, id: string, fields: Partial<BenchmarkFields>): Benchmark => {
    store.benchmarks.update(id, { ...get(account, id), ...fields })
    return get(account, id)
  }
  const setStatus = (account: string, id: string, status: 'active' | 'archived'): Benchmark => {
    store.benchmarks.setStatus(get(account, id).id, status)
    return get(account, id)
  }

  return implement(benchmarks, {
    list: ({ query, account }) => listPage('benchmarks', 'benchmark', store.benchmarks, account, query),
    listPublic: ({ query }) => noPublic('benchmarks', query),
    create: ({ body, account }) => {
      const { scenario_ids, ...fields } = body
      const id = newId('bmd')
      store.benchmarks.insert({
        ...fields,
        id,
        account,
        create_time_ms: now(),
        metadata: body.metadata ?? {},
        scenarioIds: scenarioIds(account, 'scenario_ids', scenario_ids ?? []),
      })
      return get(account, id)
    },
    ...metadataHandlers(store.benchmarks),
    startRun: ({ body, account }) => benchmarkRuns.start(account, body),
    get: ({ params, account }) => get(account, params.id),
    update: ({ params, body, account }) => {
      get(account, params.id)
      const { scenario_ids, ...fields } = body
      return change(account, params.id, {
        ...withoutNull(fields),
        ...(scenario_ids && { scenarioIds: scenarioIds(account, 'scenario_ids', scenario_ids) }),
      })
    },
    definitions: ({ params, query, account }) => {
      const benchmark = store.benchmarks.position(account, params.id) ?? notFound('benchmark', params.id)
      const list = (_: string, page: typeof query, before?: number) =>
        store.scenarios.ofBenchmark(account, benchmark, page, before)
      return listPage('scenarios', 'scenario', { ...store.scenarios, list }, account, query)
    },
    changeScenarios: ({ params, body, account }) => {
      const { scenarioIds: present } = get(account, params.id)
      const added = scenarioIds(account, 'scenarios_to_add', body.scenarios_to_add ?? [])
      const removed = new Set(body.scenarios_to_remove ?? [])
      // Unspecified: removal takes precedence over addition, and ignores absent scenarios.
      const remaining = [...new Set([...present, ...added])].filter((id) => !removed.has(id))
      return change(account, params.id, { scenarioIds: remaining })
    },
    archive: ({ params, account }) => setStatus(account, params.id, 'archived'),
    unarchive: ({ params, account }) => setStatus(account, params.id, 'active'),
    runs: ({ params, query, account }) => {
      get(account, params.id)
      const ofBenchmark = { ...query, benchmark_id: params.id }
      return listPage('runs', 'benchmark run', store.benchmarkRuns, account, ofBenchmark)
    },
  })
}
