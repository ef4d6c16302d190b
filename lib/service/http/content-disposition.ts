export const attachment = (path: string): string => {
  const name = path.split('/').findLast((part) => part !== '') ?? 'file'
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const exact = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`
}

export const logsAttachment = (name: string): string => attachment(`${name}-logs.zip`.replaceAll('/', '-'))
