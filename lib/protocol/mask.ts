// Separate from the masking rules, so that pages do not download them.

/** Replaces a secret value. The console rejects it in requests. */
export const mask = '••••••••'

/** Names the job whose values replace the masks in a new one. */
export const valuesOfHeader = 'x-devdeck-values-of'
