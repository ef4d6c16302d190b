import { uploadObject } from '#lib/gateway/objects/objects.ts'

export const POST = (request: Request) => uploadObject(request)
