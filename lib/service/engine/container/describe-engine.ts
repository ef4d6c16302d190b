import type { EngineAddress } from './engine-address.ts'
import { EngineApi } from './engine-api.ts'

interface Info {
  ServerVersion: string
  Driver: string
  CgroupVersion?: string
  CgroupDriver: string
  MemoryLimit?: boolean
  CpuCfsQuota?: boolean
  PidsLimit?: boolean
}

const timeoutMs = 5000

/** Facts about an engine, and how many containers, images and networks of a service it has. */
export const describeEngine = async (address: EngineAddress, serviceId: string | undefined) => {
  const api = new EngineApi(address)
  const get = <T>(path: string, query = {}) => api.json<T>('GET', path, { query, timeoutMs })
  const [info, { ApiVersion, Platform }] = await Promise.all([
    get<Info>('/info'),
    get<{ ApiVersion: string; Platform?: { Name: string } }>('/version'),
  ])
  const count = async (path: string) => {
    const filters = { label: [`devdeck.service=${serviceId}`] }
    return (await get<unknown[]>(path, { all: true, filters })).length
  }
  const [containers = 0, images = 0, networks = 0] =
    serviceId === undefined
      ? []
      : await Promise.all(['/containers/json', '/images/json', '/networks'].map((path) => count(path)))
  const { MemoryLimit, CpuCfsQuota, PidsLimit = true } = info
  return {
    version: `${Platform?.Name || 'engine'} ${info.ServerVersion}, API ${ApiVersion}`,
    drivers: `storage ${info.Driver}, cgroup v${info.CgroupVersion ?? '1'} (${info.CgroupDriver})`,
    notLimited: Object.entries({ memory: MemoryLimit, cpu: CpuCfsQuota, pids: PidsLimit }).flatMap(
      ([name, isLimited]) => (isLimited ? [] : name),
    ),
    ...{ containers, images, networks },
  }
}
