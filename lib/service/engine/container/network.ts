import { type EngineApi, EngineResponseError, ifMissing } from './engine-api.ts'

/** The bridge network of a service, created when first needed. Its devboxes can't reach each other. */
export const createBridge = (api: EngineApi, serviceId: string) => {
  const name = `devdeck-${serviceId}`
  const body = {
    Name: name,
    CheckDuplicate: true,
    Labels: { 'devdeck.service': serviceId },
    Options: { 'com.docker.network.bridge.enable_icc': 'false' },
  }
  const find = () => api.json<{ Id: string }>('GET', `/networks/${name}`).catch(ifMissing)
  const create = async (): Promise<string> => {
    const found = await find()
    if (found) return found.Id
    const created = await api.json<{ Id: string }>('POST', '/networks/create', { body }).catch((error: unknown) => {
      if (!(error instanceof EngineResponseError) || error.status !== 409) throw error
      return find()
    })
    return created?.Id ?? create()
  }
  let creating: Promise<string> | undefined
  return {
    name,
    /** Resolves with its id. One call at a time, because the engine accepts a second network of the same name. */
    ensure(): Promise<string> {
      creating ??= create().finally(() => {
        creating = undefined
      })
      return creating
    },
    /** Has no effect while containers use it. */
    remove: () => api.json('DELETE', `/networks/${name}`).catch(() => undefined),
  }
}
