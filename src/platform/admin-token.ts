import { randomBytes } from 'node:crypto';

/** A token that nobody can guess: the one thing in the sandbox that must not come from the seed. */
export const newAdminToken = (): string => `admin_${randomBytes(18).toString('base64url')}`;
