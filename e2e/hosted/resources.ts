import { compact, Failure, type Json, newId, page, type Routes } from './http.ts'

/** Secrets, blueprints, agents, objects, network policies, gateway and MCP configs. */
export const resourceRoutes = (addressOf: () => string) => {
  const crud = (base: string, name: string, noun: string, keyField = 'id') => {
    const rows: Json[] = []
    const find = (key: string | undefined) => {
      const found = rows.find((row) => row[keyField] === key)
      if (!found) throw new Failure(404, `${noun} not found`)
      return found
    }
    const create = (body: Json, more: Json = {}) => {
      const record = compact({ id: newId(), create_time_ms: Date.now(), ...body, ...more, tenant_class: 'b' })
      rows.unshift(record)
      return record
    }
    const routes: Routes = {
      [`GET ${base}`]: ({ query }) => {
        const wanted = query.get('name') ?? query.get('search') ?? ''
        return page(
          name,
          rows.filter((row) => String(row.name ?? '').includes(wanted)),
          query,
        )
      },
      [`POST ${base}`]: ({ body }) => create(body),
      [`GET ${base}/*`]: ({ at: [key] }) => find(key),
      [`POST ${base}/*`]: ({ at: [key], body }) => Object.assign(find(key), compact(body)),
      [`POST ${base}/*/delete`]: ({ at: [key] }) => {
        const found = find(key)
        rows.splice(rows.indexOf(found), 1)
        return keyField === 'name' ? found : {}
      },
    }
    return { rows, create, find, routes }
  }
  const secrets = crud('/v1/secrets', 'secrets', 'Secret', 'name')
  const createSecret = ({ name }: Json) => secrets.create({ name }, { update_time_ms: Date.now() })
  const blueprints = crud('/v1/blueprints', 'blueprints', 'Blueprint')
  const createBlueprint = ({ name, metadata, base_blueprint_id, ...parameters }: Json, status = 'build_complete') =>
    blueprints.create(compact({ name, metadata, base_blueprint_id }), {
      state: 'created',
      status,
      parameters: { name, ...parameters },
      build_finish_time_ms: Date.now(),
    })
  const agents = crud('/v1/agents', 'agents', 'Agent')
  const objects = crud('/v1/objects', 'objects', 'Object')
  const contents = new Map<string, Buffer>()
  const createObject = ({ name, content_type, metadata }: Json) => {
    const record = objects.create(compact({ name, content_type, metadata }), { state: 'UPLOADING' })
    return { ...record, upload_url: `${addressOf()}/blob/${encodeURIComponent(String(record.id))}` }
  }
  const policies = crud('/v1/network-policies', 'network_policies', 'Network policy')
  const gateways = crud('/v1/gateway-configs', 'gateway_configs', 'Gateway config')
  const mcps = crud('/v1/mcp-configs', 'mcp_configs', 'MCP config')
  const routes: Routes = {
    ...secrets.routes,
    ...blueprints.routes,
    ...agents.routes,
    ...objects.routes,
    ...policies.routes,
    ...gateways.routes,
    ...mcps.routes,
    'POST /v1/secrets': ({ body }) => createSecret(body),
    'POST /v1/secrets/*': ({ at: [name] }) => Object.assign(secrets.find(name), { update_time_ms: Date.now() }),
    'POST /v1/blueprints': ({ body }) => createBlueprint(body),
    'GET /v1/blueprints/*/logs': ({ at: [id] }) => ({
      blueprint_id: blueprints.find(id).id,
      logs: [
        { level: 'INFO', message: 'Step 1/2: FROM base', timestamp_ms: Date.now() - 900, host: 'b1' },
        { level: 'NOTICE', message: 'Step 2/2: RUN true', timestamp_ms: Date.now() },
      ],
    }),
    'GET /v1/agents/devbox_counts': () => ({ counts: {}, total_count: 0, window: 'all' }),
    'POST /v1/agents': ({ body }) => agents.create(body, { is_public: false }),
    'POST /v1/objects': ({ body }) => createObject(body),
    'POST /v1/objects/*/complete': ({ at: [id] }) =>
      Object.assign(objects.find(id), { state: 'READ_ONLY', size_bytes: contents.get(id ?? '')?.length ?? 0 }),
    'GET /v1/objects/*/download': ({ at: [id] }) => ({
      download_url: `${addressOf()}/blob/${encodeURIComponent(String(objects.find(id).id))}`,
    }),
    'PUT /blob/*': ({ at: [id], raw }) => {
      contents.set(id ?? '', raw)
      return {}
    },
    'GET /blob/*': ({ at: [id], response }) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(contents.get(id ?? ''))
    },
  }
  const seed = () => {
    for (const name of ['OPENAI_KEY', 'GITHUB_TOKEN']) createSecret({ name })
    createBlueprint({ name: 'python-ci', dockerfile: 'FROM python:3.12' })
    createBlueprint({ name: 'broken', dockerfile: 'FROM nothing' }, 'failed')
    createBlueprint({ name: 'queued elsewhere' }, 'hydrating')
    agents.create({
      name: 'careful',
      version: '1.0',
      is_public: false,
      source: { type: 'npm', npm: { package_name: 'careful' } },
    })
    agents.create({ name: 'odd', is_public: true, source: { type: 'wasm', wasm: { digest: 'x' } } })
    objects.create({ name: 'dataset.tgz', content_type: 'tgz', state: 'READ_ONLY', size_bytes: 2048 })
    objects.create({ name: 'odd.parquet', content_type: 'parquet', state: 'COLD_STORAGE' })
    policies.create({ name: 'registries only', egress: { allow_all: false, allowed_hostnames: ['pypi.org'] } })
    const gateway = gateways.create({
      name: 'openai',
      endpoint: 'https://api.openai.com',
      auth_mechanism: { type: 'bearer' },
    })
    const mcp = mcps.create({ name: 'github', endpoint: 'https://mcp.github.com', allowed_tools: ['issues.*'] })
    return { gateway, mcp, secret: secrets.rows[0] as Json, blueprint: blueprints.rows[2] as Json }
  }
  return { routes, seed }
}
