// A module for Nextflow: include { MEDIANMAP_FIT; MEDIANMAP_PREDICT } from './medianmap.nf'
// Run as it stands it maps the FASTA files of --input:
//   nextflow run medianmap.nf --input 'data/*.fasta' --outdir maps

params.input = 'data/*.fasta'
params.outdir = 'maps'
params.grid = '6x8'

process MEDIANMAP_FIT {
    tag "$sample"
    cpus 2
    publishDir params.outdir, mode: 'copy'

    input:
    tuple val(sample), path(sequences)

    output:
    tuple val(sample), path("${sample}/model.mmap"), emit: model
    tuple val(sample), path("${sample}/report.html"), emit: report
    tuple val(sample), path("${sample}/assignments.tsv"), emit: assignments

    script:
    def args = task.ext.args ?: "--labels header --grid ${params.grid}"
    """
    medianmap fit ${sequences} ${args} --threads ${task.cpus} -q -o ${sample}
    """
}

process MEDIANMAP_PREDICT {
    tag "$sample"
    publishDir params.outdir, mode: 'copy'

    input:
    tuple val(sample), path(model), path(objects)

    output:
    tuple val(sample), path("${sample}.placed.tsv")

    script:
    """
    medianmap predict ${model} ${objects} -q -o ${sample}.placed.tsv
    """
}

workflow {
    MEDIANMAP_FIT(Channel.fromPath(params.input).map { file -> tuple(file.baseName, file) })
}
