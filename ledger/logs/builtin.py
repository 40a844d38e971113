"""The built-in profiles, as resources that can be copied and changed. Examples are lines of real runs."""

from functools import cache
from typing import Any

from ledger.logs.matching import Matcher
from ledger.logs.profiles import KIND, parse

API_VERSION = "goodput/v1"
DATE = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
MEGATRON_STEP = (
    r"iteration +(?P<globalStep>\d+)/ *\d+ \|.* elapsed time per iteration \(ms\): +(?P<stepTiming>[\d.]+) \|"
    r"(?:.*throughput per GPU \(TFLOP/s/GPU\): +(?P<tflops>[\d.]+) \|)?(?:.* lm loss: (?P<loss>[-+.\dEe]+) \|)?"
)
MEGATRON: dict[str, Any] = {
    "applicationStart": {
        "regex": rf"^\[after megatron is initialized\] datetime: (?P<timestamp>{DATE})",
        "example": "[after megatron is initialized] datetime: 2021-05-23 08:41:04 ",
    },
    "trainingStep": {
        "regex": MEGATRON_STEP,
        "example": " iteration    29020/  311541 | consumed samples:     10698064 | elapsed time per iteration (ms): "
        "22306.6 | learning rate: 9.850E-05 | global batch size:  1024 | lm loss: 2.775923E+00 | loss scale: 32768.0 |",
        "units": {"stepTiming": "ms"},
    },
    "checkpointDone": {
        "regex": r"successfully saved checkpoint (?:at|from) iteration +(?P<step>\d+)"
        r"|save-checkpoint[ .:]+(?:\()?(?P<saveDuration>\d+\.\d+)",
        "example": "  successfully saved checkpoint at iteration   33241 to /checkpoints",
        "units": {"saveDuration": "ms"},
    },
    "checkpointSave": {
        "regex": r"saving checkpoint at iteration +(?P<step>\d+) to (?P<path>\S+)",
        "example": "saving checkpoint at iteration   33241 to /checkpoints",
    },
    "checkpointRestore": {
        "regex": r"loading (?:distributed )?checkpoint from (?P<path>\S+) at iteration +(?P<step>\d+)",
        "example": " loading checkpoint from /checkpoints at iteration 6210",
    },
    "checkpointLoaded": {
        "regex": r"successfully loaded checkpoint from (?P<path>\S+) .*at iteration +(?P<step>\d+)",
        "example": "  successfully loaded checkpoint from /checkpoints [ t 0/1, p 0/4 ] at iteration 6210",
    },
}
BRIDGE: dict[str, Any] = MEGATRON | {
    "applicationStart": {
        "regex": rf"\[after (?:megatron|model parallel|distributed) is initialized\] datetime: (?P<timestamp>{DATE})",
        "example": "[after megatron is initialized] datetime: 2025-05-22 19:45:01",
    },
    "trainingStep": {
        "regex": rf"(?:\[(?P<timestamp>{DATE})[.\d]*\] +)?{MEGATRON_STEP}",
        "example": " [2025-05-22 19:50:11.123456] iteration       10/     100 | consumed samples:         1280 | "
        "elapsed time per iteration (ms): 5310.2 | throughput per GPU (TFLOP/s/GPU): 642.1 | learning rate: 1.0E-05 | "
        "global batch size:   128 | lm loss: 1.103E+01 | loss scale: 1.0 |",
        "units": {"stepTiming": "ms"},
    },
}
NEMO: dict[str, Any] = {
    "applicationStart": {
        "regex": rf"\[NeMo I (?P<timestamp>{DATE}) .*(?:Fixing mis-match|Rank 0 has data parallel group"
        r"|All data parallel group ranks|Experiments will be logged at)",
        "example": "[NeMo I 2025-05-22 19:47:02 megatron_init:314] Rank 0 has data parallel group : [0]",
    },
    "trainingStep": {
        "regex": r"global_step: (?P<globalStep>\d+) \| (?:.*reduced_train_loss: (?P<loss>[-+.\dEe]+) \| )?"
        r".*train_step_timing in s: (?P<stepTiming>[\d.]+)(?:.*TFLOPS_per_GPU: (?P<tflops>[-+.\dEe]+))?",
        "example": "Training epoch 1, iteration 0/999 | lr: 2.999e-06 | global_batch_size: 512 | global_step: 19 | "
        "reduced_train_loss: 11.03 | train_step_timing in s: 46.86 | consumed_samples: 10240",
    },
    "checkpointDone": {
        "regex": rf"\[NeMo I (?P<timestamp>{DATE}) .*[Cc]heckpoint save for step (?P<step>\d+) finalized successfully",
        "example": "[NeMo I 2025-05-22 20:09:41 model_checkpoint:522] Async checkpoint save for step 19 finalized "
        "successfully.",
    },
    "checkpointLoaded": {
        "regex": rf"\[NeMo I (?P<timestamp>{DATE}) .*(?:Restored all states from|Loaded checkpoint) (?P<path>\S+)",
        "example": "[NeMo I 2025-05-22 19:48:20 nemo_logger:1] Restored all states from /checkpoints/step=18-last.ckpt",
    },
}
DEEPSPEED: dict[str, Any] = {
    "applicationStart": {
        "regex": r"^\[(?P<timestamp>[^\]]+)\] \[INFO\] \[[^\]]+\] (?:\[Rank 0\] )?(?:DeepSpeed info:|DeepSpeedEngine "
        r"configuration:|.*initializing model parallel cuda seeds on global rank 0,)",
        "example": "[2021-05-25 06:38:26,358] [INFO] [config.py:748:print] DeepSpeedEngine configuration:",
    },
    "trainingStep": {
        "regex": r"^\[(?P<timestamp>[^\]]+)\] \[INFO\] \[[^\]]+\] (?:\[Rank 0\] step=(?P<globalStep>[1-9]\d*),"
        r"|epoch=\d+/micro_step=\d+/global_step=(?P<iteration>[1-9]\d*),)",
        "example": "[2021-05-25 06:48:26,358] [INFO] [logging.py:60:log_dist] [Rank 0] step=10, skipped=0, lr=[5e-05]",
    },
    "checkpointSave": {
        "regex": r"^\[(?P<timestamp>[^\]]+)\] \[INFO\] .*(?:Saving model checkpoint: |\[Torch\] Saving )"
        r"(?P<path>\S*global_step(?P<step>\d+)\S*)",
        "example": "[2021-08-08 01:00:44,221] [INFO] [logging.py:68:log_dist] [Rank 0] Saving model checkpoint: "
        "/checkpoints/global_step33241/mp_rank_00_model_states.pt",
    },
    "checkpointDone": {
        "regex": r"^\[(?P<timestamp>[^\]]+)\] \[INFO\] .*\[Torch\] Checkpoint global_step(?P<step>\d+) is ready now",
        "example": "[2023-05-25 06:48:26,358] [INFO] [torch_checkpoint_engine.py:33:commit] [Torch] Checkpoint "
        "global_step500 is ready now!",
    },
    "checkpointLoaded": {
        "regex": r"^\[(?P<timestamp>[^\]]+)\] \[INFO\] .*\[Torch\] Loaded checkpoint from "
        r"(?P<path>\S*global_step(?P<step>\d+)\S*)",
        "example": "[2023-05-25 06:38:26,358] [INFO] [torch_checkpoint_engine.py:29:load] [Torch] Loaded checkpoint "
        "from /checkpoints/global_step500/mp_rank_00_model_states.pt.",
    },
}
HF_TRAINER: dict[str, Any] = {
    "applicationStart": {
        "regex": r"^\[INFO\|trainer\.py:\d+\] (?P<timestamp>\S+ \S+) >> \*{5} Running training \*{5}",
        "example": "[INFO|trainer.py:1143] 2021-05-25 06:38:26,284 >> ***** Running training *****",
    },
    "trainingStep": {
        "regex": r"\d+%\|[^|]*\| *(?P<globalStep>[1-9]\d*)/\d+ \[[\d:]+<[\d:?]+, +"
        r"(?:(?P<stepTiming>[\d.]+)s/it|\S+it/s)",
        "example": "  6%|▋         | 1/16 [00:58<14:41, 58.76s/it]",
    },
    "checkpointSave": {
        "regex": r"^\[INFO\|trainer\.py:\d+\] (?P<timestamp>\S+ \S+) >> Saving model checkpoint to "
        r"(?P<path>\S*checkpoint-(?P<step>\d+)|\S+)",
        "example": "[INFO|trainer.py:1884] 2021-05-25 06:53:45,424 >> Saving model checkpoint to output_dir",
    },
    "checkpointLoaded": {
        "regex": r"^\[INFO\|trainer\.py:\d+\] (?P<timestamp>\S+ \S+) >> +Continuing training from global "
        r"step (?P<step>\d+)",
        "example": "[INFO|trainer.py:1160] 2021-05-25 06:38:26,284 >>   Continuing training from global step 500",
    },
}
LIGHTNING: dict[str, Any] = {
    "applicationStart": {
        "regex": r"^LOCAL_RANK: \d+ - CUDA_VISIBLE_DEVICES: ",
        "example": "LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0,1,2,3,4,5,6,7]",
    },
    "trainingStep": {
        "regex": r"^Epoch \d+: .*\| *(?P<globalStep>[1-9]\d*)/\d+ \[[\d:]+<[\d:?]+(?:, +(?:(?P<elapsedTime>[\d.]+)s/it"
        r"|[\d.]+it/s))?(?:.*(?:train_)?loss=(?P<loss>[-+.\dEe]+))?"
        r"(?:.*train_step_timing in s=(?P<stepTiming>[\d.]+))?",
        "example": "Epoch 0:   3%|▎         | 34103/1100000 [5:28:58<171:22:21,  1.73it/s, loss=2.52, v_num=, "
        "reduced_train_loss=2.510, global_step=3.1e+4, consumed_samples=2.54e+8, val_loss=2.510]",
    },
    "checkpointDone": {
        "regex": r"global step (?P<step>\d+): .* saving model to '?(?P<path>[^' ]+)",
        "example": "Epoch 0, global step 2000: 'val_loss' reached 2.80000 (best 2.80000), saving model to "
        "'/checkpoints/step=2000.ckpt' as top 1",
    },
    "checkpointRestore": {
        "regex": r"^Restoring states from the checkpoint path at (?P<path>\S+)",
        "example": "Restoring states from the checkpoint path at /checkpoints/step=2000.ckpt",
    },
    "checkpointLoaded": {
        "regex": r"^Restored all states from the checkpoint (?:at |file at )?(?P<path>\S+)",
        "example": "Restored all states from the checkpoint at /checkpoints/step=2000.ckpt",
    },
}
MAXTEXT: dict[str, Any] = {
    "applicationStart": {
        "regex": r"^(?:Running Model|System Information: Jax Version)",
        "example": "System Information: Jax Version: 0.4.30",
    },
    "trainingStep": {
        "regex": r"completed step: (?P<globalStep>\d+), seconds: (?P<stepTiming>[\d.]+), "
        r"TFLOP/s/device: (?P<tflops>[\d.]+)(?:.*loss: (?P<loss>[-+.\dEe]+))?",
        "example": "completed step: 2, seconds: 5.658, TFLOP/s/device: 135.158, Tokens/s/device: 8687.815, "
        "total_weights: 196608, loss: 11.689",
    },
    "checkpointDone": {
        "regex": r"saved a checkpoint at step (?P<step>\d+)",
        "example": "saved a checkpoint at step 100",
    },
    "checkpointLoaded": {
        "regex": r"[Rr]estoring from this run's directory step (?P<step>\d+)|restored from step (?P<path>\d+)",
        "example": "restoring from this run's directory step 100",
    },
}
TORCHTITAN: dict[str, Any] = {
    "applicationStart": {
        "regex": r"(?P<timestamp>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) - root - INFO - Starting job: ",
        "example": "[rank0]:2025-03-04 00:10:02,118 - root - INFO - Starting job: Llama 3 8B training",
    },
    "trainingStep": {
        "regex": r"(?P<timestamp>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) - root - INFO - step: *(?P<globalStep>\d+) +"
        r"loss: *(?P<loss>[-+.\dEe]+)(?:.*tflops: *(?P<tflops>[\d,.]+))?",
        "example": "1: 2025-03-04 00:44:44,441 - root - INFO - step: 1990  loss:  3.4370  memory: 68.57GiB(86.69%)  "
        "tps: 6,785  mfu: 39.73%",
    },
    "checkpointSave": {
        "regex": r"(?P<timestamp>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) - root - INFO - "
        r"Saving (?:the|a full) checkpoint",
        "example": "[rank0]:2025-03-04 00:20:02,118 - root - INFO - Saving the checkpoint (or staging if async is "
        "enabled).",
    },
    "checkpointDone": {
        "regex": r"(?P<timestamp>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) - root - INFO - Finished saving the checkpoint"
        r"(?:.* in (?P<saveDuration>[\d.]+) seconds)?",
        "example": "[rank0]:2025-03-04 00:20:09,118 - root - INFO - Finished saving the checkpoint (or staging if "
        "async is enabled) in 7.00 seconds.",
    },
    "checkpointRestore": {
        "regex": r"(?P<timestamp>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) - root - INFO - Loading the checkpoint .*step "
        r"(?P<step>\d+)",
        "example": "[rank0]:2025-03-04 00:10:30,118 - root - INFO - Loading the checkpoint at step 500.",
    },
    "checkpointLoaded": {
        "regex": r"(?P<timestamp>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) - root - INFO - Finished loading the checkpoint",
        "example": "[rank0]:2025-03-04 00:10:35,118 - root - INFO - Finished loading the checkpoint in 5.00 seconds.",
    },
}
MLPERF: dict[str, Any] = {
    "applicationStart": {
        "regex": r'^:::MLLOG .*"time_ms": (?P<timestamp>\d+),.*"key": "init_start"',
        "example": ':::MLLOG {"namespace": "", "time_ms": 1709183679041, "event_type": "INTERVAL_START", '
        '"key": "init_start", "value": null, "metadata": {"lineno": 23}}',
    },
    "trainingStep": {
        "regex": r'^:::MLLOG .*"time_ms": (?P<timestamp>\d+),.*"key": "(?:run_start|run_stop|block_stop|eval_accuracy'
        r'|train_loss)"(?:.*"(?:samples_count|epoch_num)": (?P<globalStep>\d+))?',
        "example": ':::MLLOG {"namespace": "", "time_ms": 1709190399975, "event_type": "POINT_IN_TIME", '
        '"key": "eval_accuracy", "value": 2.69, "metadata": {"lineno": 72, "epoch_num": 1157627904}}',
    },
    "checkpointDone": {
        "regex": r'^:::MLLOG .*"time_ms": (?P<timestamp>\d+),.*"key": "save_checkpoint_stop"',
        "example": ':::MLLOG {"namespace": "", "time_ms": 1709190399975, "event_type": "INTERVAL_END", '
        '"key": "save_checkpoint_stop", "value": null}',
    },
}
NCCL_RESULT = {
    "regex": r"^(?:\[\d+,\d+\]<stdout>:)? *(?P<size>\d+) +\d+ +\w+ +\S+ +-?\d+ +[\d.]+"
    r" +(?P<algBW>[\d.]+) +(?P<busBW>[\d.]+) +(?:\d+|N/A)",
    "example": "  8589934592    2147483648     float     sum      -1    34823   246.67   462.51      0    34810",
}
NCCL_BANDWIDTH: dict[str, Any] = {
    "bandwidthResult": NCCL_RESULT,
    "networkTransport": {
        "regex": r"NCCL INFO Using network (?P<transport>\S+(?: \S+)*)",
        "example": "node1:4112:4140 [0] NCCL INFO Using network IB",
    },
}
NCCL_LOOPBACK: dict[str, Any] = {
    "bandwidthResult": NCCL_RESULT,
    "networkTransport": {
        "regex": r"NCCL INFO Channel \S+ : .* via (?P<transport>P2P/\S+|SHM\S*|NET/[^/]+/\S+)",
        "example": "node1:4112:4140 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read",
    },
}


def resource(name: str, about: str, layout: str, patterns: dict[str, Any], **more: Any) -> dict[str, Any]:
    spec = {"description": about, "timestamp": {"layout": layout}, "patterns": patterns, **more}
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": name}, "spec": spec}


SECONDS, COMMA = "2006-01-02 15:04:05", "2006-01-02 15:04:05,000"
BUILTIN: dict[str, dict[str, Any]] = {
    one["metadata"]["name"]: one
    for one in (
        resource("megatron-training", "Megatron-LM and Megatron-DeepSpeed, a line every 10 steps", SECONDS, MEGATRON,
                 warmupSteps=10, logInterval=10),
        resource("megatron-bridge", "Megatron Bridge, a line every iteration", SECONDS, BRIDGE, warmupSteps=1),
        resource("nemo-4-training", "NeMo 2 with nemo-run or Ray", SECONDS, NEMO, warmupSteps=1),
        resource("deepspeed", "DeepSpeed engines, a line every 10 steps", COMMA, DEEPSPEED, logInterval=10),
        resource("hf-trainer", "Hugging Face Trainer with its progress bar", COMMA, HF_TRAINER, warmupSteps=1),
        resource("lightning", "PyTorch Lightning's and BioNeMo's progress bar", SECONDS, LIGHTNING),
        resource("maxtext", "MaxText; the first two steps compile", SECONDS, MAXTEXT, warmupSteps=2),
        resource("torchtitan", "torchtitan: every rank prints, every 10 steps", COMMA, TORCHTITAN, logInterval=10),
        resource("mlperf", "MLPerf Training result logs", "UnixMilli", MLPERF),
        resource("nccl-bandwidth", "nccl-tests over the network", SECONDS, NCCL_BANDWIDTH),
        resource("nccl-loopback", "nccl-tests within a machine", SECONDS, NCCL_LOOPBACK),
    )
}  # fmt: skip


@cache
def matcher(name: str) -> Matcher:
    """Return a built-in profile ready to read. Raises KeyError."""
    return Matcher(parse(BUILTIN[name]))
