import { type LaunchParameters, resourcesOf } from '#lib/contract/launch-parameters.ts'
import type { Devboxes } from '#lib/service/devboxes/devboxes.ts'
import type { Cluster } from '#lib/service/engine/box.ts'
import type { Stores } from '#lib/service/store/stores.ts'
import type { Needs } from './cluster-room.ts'
import { sizeOf } from './harbor/resources.ts'
import { readTask } from './harbor/task.ts'
import type { HarborPart } from './plan.ts'
import type { Trial } from './trials.ts'

interface Options {
  store: Pick<Stores, 'scenarios'>
  devboxes: Devboxes
  cluster: Cluster | undefined
}

/** What a trial's devboxes reserve in a cluster, as far as it is known before it starts; none without a cluster. */
export const createNeedsOf = ({ store, devboxes, cluster }: Options) => {
  const ofScenario = async ({ account, scenario }: Trial): Promise<Needs[]> => {
    const { blueprint_id, launch_parameters } = store.scenarios.get(account, scenario.id)?.environment ?? {}
    return [limitsOf(devboxes.launchParametersOf(account, { blueprint_id, launch_parameters }))]
  }
  return async (trial: Trial): Promise<readonly Needs[]> => {
    if (!cluster) return []
    const { harbor } = trial.plan
    // A trial whose needs can't be read reports that itself.
    const limits = await (harbor ? ofTask(harbor, trial) : ofScenario(trial)).catch(() => [])
    return limits.map((each) => cluster.reservationOf(each))
  }
}

const ofTask = async ({ scenarios, settings }: HarborPart, { place }: Trial): Promise<Needs[]> => {
  const { forceBuild } = settings.environment
  const { task } = await readTask(scenarios[place.scenario]?.path ?? '', { forceBuild, hasImages: true })
  if (!task) return []
  const verifiers = task.steps.flatMap(({ separateVerifier }) => separateVerifier?.environment ?? [])
  const [own, ...others] = [task.environment, ...verifiers].map((each) => limitsOf(sizeOf(each, settings)))
  if (!own || others.length === 0) return own ? [own] : []
  // One at a time.
  const most = (need: keyof Needs) => Math.max(...others.map((each) => each[need]))
  return [own, { cpuCores: most('cpuCores'), memoryBytes: most('memoryBytes') }]
}

const limitsOf = (parameters: LaunchParameters): Needs => {
  const { cpuCores, memoryGb } = resourcesOf(parameters)
  return { cpuCores, memoryBytes: memoryGb * 2 ** 30 }
}
