import { join } from 'node:path'
import type { LaunchParameters } from '#lib/contract/launch-parameters.ts'
import { resourcesOf } from '#lib/contract/launch-parameters.ts'
import { hostnameFor } from '#lib/service/domain/devboxes.ts'
import { networkUnder } from '#lib/service/domain/launch-parameters.ts'
import type { Engine, Network, SandboxSpec } from '#lib/service/engine/engine.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import type { DevboxRecord } from '#lib/service/store/devboxes.ts'
import type { NetworkPolicyStore } from '#lib/service/store/network-policies.ts'
import { rootOf, systemOf } from './mounts.ts'

interface Options {
  networkPolicies: NetworkPolicyStore
  engine: Engine
  serviceId: string
  dataDir: string
  folderOf: (devboxId: string) => string
  privateNetwork: boolean
}

export const sandboxSpecOf = (
  { id, name, account, launch_parameters }: DevboxRecord,
  options: Options,
): SandboxSpec => {
  const folder = options.folderOf(id)
  const { cpuCores, memoryGb, diskGb } = resourcesOf(launch_parameters)
  const root = rootOf(folder)
  const system = systemOf(folder)
  return {
    devboxId: id,
    serviceId: options.serviceId,
    hostname: hostnameFor(name, id),
    dataDir: options.dataDir,
    home: join(folder, 'home'),
    tmp: join(folder, 'tmp'),
    run: join(folder, 'run'),
    limits: { cpuCores, memoryBytes: memoryGb * 2 ** 30, diskBytes: diskGb * 2 ** 30 },
    privateNetwork: options.privateNetwork,
    network: root?.network ?? networkOf(account, launch_parameters, options),
    ...(root && { root: root.folder }),
    ...(system && { system }),
  }
}

/** Throws 400 if the policy doesn't exist, 501 if it isn't supported. */
export const networkOf = (
  account: string,
  { network_policy_id: id }: LaunchParameters,
  { networkPolicies, engine }: Pick<Options, 'networkPolicies' | 'engine'>,
): Network => {
  if (!id) return 'public'
  const field = 'launch_parameters.network_policy_id'
  const policy = networkPolicies.get(account, id)
  if (!policy) throw new ServiceError('invalid_argument', `${field}: network policy ${id} not found`, { field })
  const network = networkUnder(policy.egress)
  const refuse = (problem: string) =>
    new ServiceError('not_implemented', `${field}: ${problem}`, { field, shouldRetry: false })
  if (!network) throw refuse(`policy ${id} allows addresses or devboxes; this service supports all, host names or none`)
  if (network !== 'public' && engine.isolation === 'none')
    throw refuse(`policy ${id} restricts access; devboxes without isolation use the host's network`)
  return network
}
