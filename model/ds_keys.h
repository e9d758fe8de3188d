/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ds_keys: the keys that DeepSpeed and the published fork know, object by object.
 */
#ifndef MODEL_DS_KEYS_H
#define MODEL_DS_KEYS_H

struct ds_object {
	const char *path; /* "" or "zero_optimization/offload_param" */
	const char *const *keys; /* NULL-terminated */
};
extern const struct ds_object ds_objects[]; /* ends with a NULL path */

#endif
