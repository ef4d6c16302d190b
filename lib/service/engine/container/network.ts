import { type EngineApi, EngineResponseError, ifMissing } from './engine-api.ts'

interface NetworkInfo {
  Id: string
  IPAM: { Config: { Gateway?: string }[] | null }
}

/** A network of a service, created when first needed. Its devboxes can't reach each other. */
export const createNetwork = (api: EngineApi, serviceId: string, { isInternal }: { isInternal: boolean }) => {
  const name = `devdeck-${serviceId}${isInternal ? '-internal' : ''}`
  const body = {
    Name: name,
    CheckDuplicate: true,
    Internal: isInternal,
    Labels: { 'devdeck.service': serviceId },
    Options: { 'com.docker.network.bridge.enable_icc': 'false' },
  }
  const find = () => api.json<NetworkInfo>('GET', `/networks/${name}`).catch(ifMissing)
  const create = async (): Promise<NetworkInfo> => {
    const found = await find()
    if (found) return found
    await api.json('POST', '/networks/create', { body }).catch((error: unknown) => {
      if (!(error instanceof EngineResponseError) || error.status !== 409) throw error
    })
    return create()
  }
  let creating: Promise<NetworkInfo> | undefined
  return {
    name,
    /** One call at a time, because the engine accepts a second network of the same name. */
    async ensure(): Promise<{ id: string; gateway: string | undefined }> {
      creating ??= create().finally(() => {
        creating = undefined
      })
      const { Id, IPAM } = await creating
      return { id: Id, gateway: IPAM.Config?.[0]?.Gateway }
    },
    /** Has no effect while containers use it. */
    remove: () => api.json('DELETE', `/networks/${name}`).catch(() => undefined),
  }
}
