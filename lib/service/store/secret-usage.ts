import type { SecretUsage, SecretUser } from '#lib/contract/secrets.ts'
import type { Database } from './database.ts'

/** Unspecified: maximum number of users in a response. */
const maxUsers = 200

/** Devboxes and blueprints refer to a secret by name, configs by ID. */
export const secretUsageQuery = (database: Database) => {
  const configs = (type: SecretUser['type'], table: string) => `
    SELECT '${type}' AS type, ${table}.seq AS seq, ${table}.id AS id, ${table}.name AS name, header.value ->> '$.name' AS variable
    FROM ${table}, json_each(custom_headers) AS header
    WHERE account = $account AND header.value ->> '$.secret' = $id`
  const query = database.prepare(`
    SELECT type, id, name, json_group_array(variable) AS variables FROM (
      SELECT 'devbox' AS type, devboxes.seq AS seq, devboxes.id AS id, devboxes.name AS name, used.key AS variable
      FROM devboxes, json_each(secrets) AS used
      WHERE account = $account AND secrets <> '{}' AND status NOT IN ('failure', 'shutdown') AND used.value = $name
      UNION ALL
      SELECT 'blueprint', blueprints.seq, blueprints.id, blueprints.name, used.key
      FROM blueprints, json_each(parameters, '$.secrets') AS used
      WHERE account = $account AND blueprints.state <> 'deleted' AND used.value = $name
      UNION ALL
      SELECT 'benchmark_job', jobs.seq, jobs.id, jobs.name, used.key
      FROM benchmark_jobs AS jobs, json_each(spec, '$.agent_configs') AS agent,
        json_each(agent.value, '$.agent_environment.secrets') AS used
      WHERE account = $account AND end_time_ms IS NULL AND used.value = $name
      UNION ALL ${configs('gateway_config', 'gateway_configs')}
      UNION ALL ${configs('mcp_config', 'mcp_configs')}
    ) GROUP BY type, id ORDER BY type = 'devbox' DESC, type, seq DESC LIMIT ${maxUsers + 1}`)

  return (account: string, { id, name }: { id: string; name: string }): SecretUsage => {
    const rows = query.all({ account, id, name })
    const users = rows.slice(0, maxUsers).map((row) => ({
      ...(row as unknown as Pick<SecretUser, 'type' | 'id' | 'name'>),
      variables: [...new Set(JSON.parse(row.variables as string) as string[])],
    }))
    return { users, has_more: rows.length > maxUsers }
  }
}
