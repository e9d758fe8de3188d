# SPDX-License-Identifier: GPL-3.0-or-later
# Configurations of three kinds: what they count, what is wrong in them, and the exit status.
run() {
	echo "== $*"
	dos "$@" 2>&1
	echo "exit $?"
}
mkdir -p Mixtral-8x7B
cat >Mixtral-8x7B/config.json <<'JSON'
{"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32, "num_hidden_layers": 32,
 "num_key_value_heads": 8, "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32000}
JSON
cat >trapped.json <<'JSON'
{
  // three times wrong already
  "train_batch_size": 33,
  "train_micro_batch_size_per_gpu": 2,
  "gradient_accumulation_steps": 4,
  "zero_optimization": {
    "stage": 3,
    "overlap_com": true,
    "offload_optimizer": {"device": "cpu", "ratio": 0.5},
    "sub_group_size": 1e9,
  }
}
JSON
cat >fine.json <<'JSON'
{
  "train_micro_batch_size_per_gpu": "auto",
  "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu", "pin_memory": true}, "sub_group_size": 1e8}
}
JSON
cat >args.sh <<'ARGS'
LAYERS=32
torchrun --nproc_per_node 4 pretrain_gpt.py --num-layers $LAYERS --hidden-size 4096 --num-attention-heads 32 \
	--ffn-hidden-size 11008 --num-key-value-heads 4 --swiglu --normalization rmsnorm --disable-bias-linear \
	--use-rotary-position-embeddings --untie-embeddings-and-output-weights --vocab-size 50257 --optimizer-cpu-offload
ARGS
run check-config Mixtral-8x7B/config.json
run check-config trapped.json --model 7b --gpus 8
run check-config fine.json Mixtral-8x7B/config.json --hw a100-4x
run check-config args.sh --format csv
run check-config fine.json args.sh --gpus 4 --format json -q
run check-config - <fine.json
run check-config
run check-config nothing.json
echo 'hello' >hello.txt
run check-config fine.json hello.txt
run check-config fine.json --gpus 0
run simulate --hw a100-4x --model Mixtral-8x7B/config.json --policy zero3-offload
run simulate --hw a100-4x --model ./fine.json --policy zero3-offload
dos simulate --hw a100-4x --model ./args.sh --policy zero3-offload --format json | grep n_params
