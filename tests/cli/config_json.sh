# SPDX-License-Identifier: GPL-3.0-or-later
# A model from its config.json: the same as its shape by flags; flags override it.
cp "$DOS_SRC/tests/data/tiny.json" .
cat >config.json <<'JSON'
{"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
 "intermediate_size": 512, "vocab_size": 1000, "max_position_embeddings": 1024, "torch_dtype": "float16"}
JSON
columns() { dos simulate --hw ./tiny.json --policy zero3-offload --subgroup 1M "$@"; }
columns --model ./config.json --format json | grep -E '"(n_params|precision|n_subgroups)"'
columns --model ./config.json --precision bf16 --layers 4 --seq 512 --format json -q | grep -E '"(n_params|precision|n_subgroups)"'
columns --model - --format json -q <config.json | grep '"n_params"'
