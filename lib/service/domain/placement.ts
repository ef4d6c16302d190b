/** Metadata of blueprints and devboxes: constraints on the node, separated by commas. */
const placementKey = 'devdeck.placement'

/** As in `docker service create --constraint`. */
export const placementPattern = /^(node|engine)\.[\w./-]+\s*[=!]=\s*[^\s,]+$/

export const placementIn = (metadata: Readonly<Record<string, string>>): string[] =>
  (metadata[placementKey] ?? '')
    .split(',')
    .map((constraint) => constraint.trim())
    .filter(Boolean)

export const placementProblem = (metadata: Readonly<Record<string, string>>): string | undefined => {
  const wrong = placementIn(metadata).find((constraint) => !placementPattern.test(constraint))
  return wrong === undefined ? undefined : `${placementKey} must be like node.labels.pool==agents, not ${wrong}`
}
